#pragma once

// The convolution in fp64 on the CPU, straight from the formulas in include/strop/causal_conv1d.h, token by token. The oracle of every
// check; spread over the cores by channel. Rows before the start of a sequence are values 0, as in a padded convolution.

#include <functional>
#include <vector>

#include "src/ops/causal_conv1d/shape.h"

namespace strop::ops {

// Element (b, t, d) of a strided tensor.
struct Strided {
  const double* data;
  RowStrides strides;
  double at(std::int64_t b, std::int64_t t, std::int64_t d) const { return data[b * strides.sequence + t * strides.row + d * strides.channel]; }
};

struct ConvInputs {
  Strided x;
  Strided dy;             // backward only
  const double* weight;   // by shape.weight_channel, weight_tap
  const double* bias;     // null without
};

double silu(double z);
double silu_slope(double z);

void reference_forward(const ConvShape& shape, const ConvInputs& in, std::vector<double>& y);
// dx by shape.dx; partial sums [B * units][W + bias][D].
void reference_backward(const ConvShape& shape, const ConvInputs& in, std::vector<double>& dx, std::vector<double>& partial);

// Runs `body(d)` for every channel, on all cores.
void for_channels(std::int64_t channels, const std::function<void(std::int64_t)>& body);

}  // namespace strop::ops
