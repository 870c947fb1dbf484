#pragma once

// The host's twins of the args structs in templates/causal_conv1d; their sizes are asserted when a kernel is compiled.

#include <cstdint>

#include "src/ops/divisor.h"

namespace strop::ops {

struct RowStrides {
  std::int64_t sequence = 0, row = 0, channel = 0;  // in elements
};

struct StateStrides {
  std::int64_t sequence = 0, channel = 0, slot = 0;  // in elements
};

struct ConvSequences {
  const void* initial;
  const void* bounds;
  std::uint32_t count;
  StateStrides initial_strides;
};

struct ConvFwdArgs {
  const void* x;
  const void* weight;
  const void* bias;
  const void* residual;
  void* y;
  std::int64_t T;
  std::uint32_t lanes_log2;
  Divisor blocks_d, blocks_t;
  RowStrides x_strides;
  RowStrides y_strides;
  RowStrides residual_strides;
  std::int64_t weight_channel, weight_tap;
  ConvSequences sequences;
};

struct ConvBwdArgs {
  const void* x;
  const void* weight;
  const void* bias;
  const void* dy;
  void* dx;
  float* partial;
  std::int64_t T;
  Divisor blocks_d, blocks_t;
  std::int64_t partials, pieces;
  RowStrides x_strides;
  RowStrides dy_strides;
  RowStrides dx_strides;
  std::int64_t weight_channel, weight_tap;
  ConvSequences sequences;
};

struct ConvDwReduceArgs {
  const float* partial;
  void* dw;
  void* db;
  std::int64_t partials;
  std::uint32_t lanes;
};

struct ConvFinalStateArgs {
  const void* x;
  void* final;
  std::int64_t T;
  std::uint32_t blocks_d;
  RowStrides x_strides;
  StateStrides final_strides;
  ConvSequences sequences;
};

struct ConvStateBwdArgs {
  const void* x;
  const void* weight;
  const void* bias;
  const void* dy;
  const void* d_final;
  void* d_initial;
  void* dx;
  std::int64_t T;
  std::uint32_t blocks_d;
  RowStrides x_strides;
  RowStrides dy_strides;
  RowStrides dx_strides;
  StateStrides final_strides;
  StateStrides d_initial_strides;
  std::int64_t weight_channel, weight_tap;
  ConvSequences sequences;
};

}  // namespace strop::ops
