// Every candidate of every kernel of causal_conv1d on the host device, against the fp64 reference.

#include <gtest/gtest.h>

#include "src/ops/causal_conv1d/kernels.h"
#include "src/ops/causal_conv1d/problems.h"
#include "src/ops/causal_conv1d/state_problems.h"
#include "tests/support/candidates.h"
#include "tests/support/conv_cases.h"

namespace strop {
namespace {

test::CandidateBench& bench() {
  static const auto device = device::open_host();
  static const auto toolchain = jit::make_host();
  static test::CandidateBench bench(*device, *toolchain);
  return bench;
}

class ConvCandidates : public testing::TestWithParam<test::ConvCase> {
 protected:
  template <class Problem>
  void expect_all_right(const Kernel& kernel) {
    const auto shape = test::shape_of(GetParam());
    // The whole space where a new class of code begins; a third of it where only sizes differ.
    const auto& name = GetParam().name;
    const bool whole = name == "whole_units" || name == "a_ragged_end" || name == "channels_7" || name == "bias";
    const auto judged = bench().judge(kernel, [&] { return std::make_unique<Problem>(shape); }, whole ? 1 : 3);
    EXPECT_GE(judged.size(), 1U);
    EXPECT_EQ(test::failures(judged), "");
  }
};

TEST_P(ConvCandidates, ForwardIsRightInEveryConfig) { expect_all_right<ops::ConvFwdProblem>(ops::conv_fwd_kernel()); }
TEST_P(ConvCandidates, BackwardIsRightInEveryConfig) { expect_all_right<ops::ConvBwdProblem>(ops::conv_bwd_kernel()); }
TEST_P(ConvCandidates, TheReductionIsRightInEveryConfig) { expect_all_right<ops::ConvDwReduceProblem>(ops::conv_dw_reduce_kernel()); }

INSTANTIATE_TEST_SUITE_P(Host, ConvCandidates, testing::ValuesIn(test::conv_cases()),
                         [](const auto& tested) { return tested.param.name; });

using ConvCandidatesWithStates = ConvCandidates;
TEST_P(ConvCandidatesWithStates, FinalStatesAreRight) {
  expect_all_right<ops::ConvFinalStateProblem>(ops::conv_final_state_kernel());
}
TEST_P(ConvCandidatesWithStates, StateGradientsAreRight) {
  expect_all_right<ops::ConvStateBwdProblem>(ops::conv_state_bwd_kernel());
}
INSTANTIATE_TEST_SUITE_P(Host, ConvCandidatesWithStates, testing::ValuesIn(test::conv_cases_with_states()), [](const auto& tested) { return tested.param.name; });

TEST(ConvSums, AreTheSameBitsWhateverConfigWins) {
  CausalConv1dProblem problem;
  problem.B = 3;
  problem.T = 677;
  problem.D = 64;
  problem.bias = true;
  constexpr std::size_t kPartial = 5;
  constexpr std::size_t kDw = 1;
  auto ragged = ops::make_shape(problem);
  EXPECT_EQ(bench().disagreeing(ops::conv_bwd_kernel(), ops::ConvBwdProblem(ragged), kPartial), "");
  ragged.paired = true;
  EXPECT_EQ(bench().disagreeing(ops::conv_bwd_kernel(), ops::ConvBwdProblem(ragged), kPartial), "");
  ragged.paired = false;
  for (const int level : {1, 2, 3}) {
    ragged.level = level;
    EXPECT_EQ(bench().disagreeing(ops::conv_bwd_kernel(), ops::ConvBwdProblem(ragged), kPartial), "") << level;
  }
  problem.T = 640;
  const auto whole = ops::make_shape(problem);
  EXPECT_EQ(bench().disagreeing(ops::conv_bwd_kernel(), ops::ConvBwdProblem(whole), kPartial), "");
  problem.B = 20;
  const auto many = ops::make_shape(problem);
  EXPECT_EQ(bench().disagreeing(ops::conv_dw_reduce_kernel(), ops::ConvDwReduceProblem(many), kDw), "");
}

TEST(ConvSpace, HasAtLeast24LegalCandidatesAKernelAtTheTrainingShapes) {
  DeviceFacts h200;
  h200.kind = DeviceKind::cuda;
  h200.shared_per_block = 227 * 1024;
  h200.shared_per_sm = 228 * 1024;
  for (const std::int64_t D : {2048, 4096}) {
    CausalConv1dProblem problem;
    problem.B = 16;
    problem.T = 8192;
    problem.D = D;
    const auto shape = ops::make_shape(problem);
    EXPECT_GE(ops::conv_fwd_kernel().space.configs(ops::ConvFwdProblem(shape).constants(), h200).size(), 24U);
    EXPECT_GE(ops::conv_bwd_kernel().space.configs(ops::ConvBwdProblem(shape).constants(), h200).size(), 24U);
    EXPECT_GE(ops::conv_dw_reduce_kernel().space.configs(ops::ConvDwReduceProblem(shape).constants(), h200).size(), 24U);
  }
}

}  // namespace
}  // namespace strop
