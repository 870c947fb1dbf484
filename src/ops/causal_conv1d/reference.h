#pragma once

// The convolution in fp64 on the CPU, straight from the formulas in include/strop/causal_conv1d.h, token by token. The oracle of every
// check; spread over the cores by channel.

#include <functional>
#include <vector>

#include "src/ops/causal_conv1d/shape.h"

namespace strop::ops {

// Element (b, t, d) of a strided tensor.
struct Strided {
  const double* data = nullptr;
  RowStrides strides;
  double at(std::int64_t b, std::int64_t t, std::int64_t d) const { return data[b * strides.sequence + t * strides.row + d * strides.channel]; }
};

struct ConvInputs {
  Strided x;
  Strided dy;                       // backward
  Strided residual;                 // forward; no data: none
  const double* weight = nullptr;   // by shape.weight_channel, weight_tap
  const double* bias = nullptr;     // null without
  const double* initial = nullptr;  // by shape.initial; null without
  const double* d_final = nullptr;  // by shape.final; null without
  std::vector<double> bounds;       // of packed sequences; empty: dense
};

double silu(double z);
double silu_slope(double z);

void reference_forward(const ConvShape& shape, const ConvInputs& in, std::vector<double>& y);
// States by shape.final.
void reference_final_state(const ConvShape& shape, const ConvInputs& in, std::vector<double>& final_state);
// dx by shape.dx, without what flows back from the final state; partial sums [partials][W + bias][D].
void reference_backward(const ConvShape& shape, const ConvInputs& in, std::vector<double>& dx, std::vector<double>& partial);
// dx of the last W rows of each sequence, d_initial by shape.d_initial. What is not wanted is empty.
void reference_state_backward(const ConvShape& shape, const ConvInputs& in, std::vector<double>& dx, std::vector<double>& d_initial);

// Runs `body(d)` for every channel, on all cores.
void for_channels(std::int64_t channels, const std::function<void(std::int64_t)>& body);

}  // namespace strop::ops
