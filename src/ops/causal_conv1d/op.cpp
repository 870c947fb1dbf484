#include "src/ops/causal_conv1d/op.h"

#include "src/ops/causal_conv1d/gate.h"
#include "src/ops/causal_conv1d/kernels.h"
#include "src/ops/causal_conv1d/problems.h"
#include "src/ops/causal_conv1d/state_problems.h"

namespace strop::ops {
namespace {

// A line of training shapes stands for the reference job: silu, no bias, dense tensors.
CausalConv1dProblem problem_of(const TrainingShape& shape) {
  CausalConv1dProblem problem;
  problem.B = shape.B;
  problem.T = shape.T;
  problem.D = shape.D;
  problem.W = shape.W;
  problem.x_type = shape.x_type;
  problem.weight_type = shape.weight_type;
  return problem;
}

class ConvOp : public Op {
 public:
  const std::string& name() const override {
    static const std::string name = "causal_conv1d";
    return name;
  }
  std::vector<const Kernel*> kernels() const override { return {&conv_fwd_kernel(), &conv_bwd_kernel(), &conv_dw_reduce_kernel(), &conv_final_state_kernel(), &conv_state_bwd_kernel()}; }
  std::optional<std::string> why_unsupported(const TrainingShape& shape) const override { return ops::why_unsupported(problem_of(shape)); }
  std::vector<WarmupItem> items(const TrainingShape& shape) const override { return conv_items(problem_of(shape)); }
};

}  // namespace

std::vector<WarmupItem> conv_items(const CausalConv1dProblem& problem) {
  const auto shape = make_shape(problem);
  if (shape.empty()) return {};
  std::vector<WarmupItem> items{{&conv_fwd_kernel(), std::make_shared<ConvFwdProblem>(shape)},
                                {&conv_bwd_kernel(), std::make_shared<ConvBwdProblem>(shape)},
                                {&conv_dw_reduce_kernel(), std::make_shared<ConvDwReduceProblem>(shape)}};
  if (problem.final_state) items.push_back({&conv_final_state_kernel(), std::make_shared<ConvFinalStateProblem>(shape)});
  if (problem.final_state || problem.initial_state) items.push_back({&conv_state_bwd_kernel(), std::make_shared<ConvStateBwdProblem>(shape)});
  return items;
}

const Op& causal_conv1d_op() {
  static const ConvOp op;
  return op;
}

}  // namespace strop::ops
