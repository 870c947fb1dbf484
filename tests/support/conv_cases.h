#pragma once

// The shapes on which causal_conv1d is tried, on the host device and on the GPU alike.

#include <string>
#include <vector>

#include "strop/causal_conv1d.h"

namespace strop::test {

struct ConvCase {
  std::string name;  // an identifier
  CausalConv1dProblem problem;
};

// Each differs from the reference job in what its name says; sizes are small enough for the host device.
std::vector<ConvCase> conv_cases();

}  // namespace strop::test
