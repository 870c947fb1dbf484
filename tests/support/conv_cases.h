#pragma once

// The shapes on which causal_conv1d is tried, on the host device and on the GPU alike.

#include <ostream>
#include <string>
#include <vector>

#include "src/ops/causal_conv1d/shape.h"
#include "strop/causal_conv1d.h"

namespace strop::test {

struct ConvCase {
  std::string name;  // an identifier
  CausalConv1dProblem problem;
  // As a larger problem would have them: ops::ConvShape.
  int level = 0;
  bool paired = false;

  friend void PrintTo(const ConvCase& c, std::ostream* out) { *out << c.name; }
};

ops::ConvShape shape_of(const ConvCase& tested);

// Each differs from the reference job in what its name says; sizes are small enough for the host device.
std::vector<ConvCase> conv_cases();
// Those with initial and final states.
std::vector<ConvCase> conv_cases_with_states();

}  // namespace strop::test
