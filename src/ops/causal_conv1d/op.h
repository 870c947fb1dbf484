#pragma once

// How the command, the warmup and the public functions come to the kernels of causal_conv1d. Thread-safe.

#include "src/ops/op.h"
#include "strop/causal_conv1d.h"

namespace strop::ops {

// causal_conv1d as the command and the warmup see it.
const Op& causal_conv1d_op();
// Dense tensors at the alignment that allocators give.
CausalConv1dProblem conv_problem(const TrainingShape& shape);
// Forward, backward and reduction of one supported problem; none for an empty one.
std::vector<WarmupItem> conv_items(const CausalConv1dProblem& problem);

}  // namespace strop::ops
