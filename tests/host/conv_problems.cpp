#include "tests/host/conv_problems.h"

#include "src/ops/causal_conv1d/kernels.h"
#include "src/ops/causal_conv1d/problems.h"
#include "src/ops/causal_conv1d/state_problems.h"
#include "tests/support/conv_cases.h"

namespace strop::host_test {
namespace {

template <class Problem>
void add(ProblemCases& all, const std::string& kernel, const Kernel& (*of)(), const test::ConvCase& tested) {
  const auto shape = test::shape_of(tested);
  all[kernel + ':' + tested.name] = [of, shape] { return ProblemCase{of(), std::make_shared<Problem>(shape)}; };
}

}  // namespace

void add_conv_problems(ProblemCases& all) {
  for (const auto& tested : test::conv_cases()) {
    add<ops::ConvFwdProblem>(all, "conv_fwd", ops::conv_fwd_kernel, tested);
    add<ops::ConvBwdProblem>(all, "conv_bwd", ops::conv_bwd_kernel, tested);
    add<ops::ConvDwReduceProblem>(all, "conv_dw_reduce", ops::conv_dw_reduce_kernel, tested);
  }
  for (const auto& tested : test::conv_cases_with_states()) {
    add<ops::ConvFinalStateProblem>(all, "conv_final_state", ops::conv_final_state_kernel, tested);
    add<ops::ConvStateBwdProblem>(all, "conv_state_bwd", ops::conv_state_bwd_kernel, tested);
  }
}

}  // namespace strop::host_test
