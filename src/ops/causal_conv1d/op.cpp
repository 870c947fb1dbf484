#include "src/ops/causal_conv1d/op.h"

#include "src/ops/causal_conv1d/from_key.h"
#include "src/ops/causal_conv1d/gate.h"
#include "src/ops/causal_conv1d/kernels.h"
#include "src/ops/causal_conv1d/problems.h"
#include "src/ops/causal_conv1d/state_problems.h"

namespace strop::ops {
namespace {

class ConvOp : public Op {
 public:
  const std::string& name() const override {
    static const std::string name = "causal_conv1d";
    return name;
  }
  std::vector<const Kernel*> kernels() const override { return {&conv_fwd_kernel(), &conv_bwd_kernel(), &conv_dw_reduce_kernel(), &conv_final_state_kernel(), &conv_state_bwd_kernel()}; }
  std::optional<std::string> why_unsupported(const TrainingShape& shape) const override { return ops::why_unsupported(conv_problem(shape)); }
  std::vector<WarmupItem> items(const TrainingShape& shape) const override { return conv_items(conv_problem(shape)); }
  std::optional<WarmupItem> item_of(const std::string& kernel, const Key& key) const override { return conv_item_of(kernel, key); }
};

}  // namespace

CausalConv1dProblem conv_problem(const TrainingShape& shape) {
  CausalConv1dProblem problem;
  problem.B = shape.B;
  problem.T = shape.T;
  problem.D = shape.D;
  problem.W = shape.W;
  problem.x_type = shape.x_type;
  problem.weight_type = shape.weight_type;
  problem.activation = shape.activation;
  problem.bias = shape.bias;
  problem.residual = shape.residual;
  problem.packed_sequences = shape.packed_sequences;
  problem.cu_seqlens_type = shape.cu_seqlens_type;
  problem.initial_state = shape.initial_state;
  problem.final_state = shape.final_state;
  return problem;
}

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
