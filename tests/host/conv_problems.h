#pragma once

// The kernels of causal_conv1d as problems of the sanitized runner: "conv_bwd:a_ragged_end" is the backward on that case of
// tests/support/conv_cases.h.

#include "tests/host/problem_cases.h"

namespace strop::host_test {

void add_conv_problems(ProblemCases& all);

}  // namespace strop::host_test
