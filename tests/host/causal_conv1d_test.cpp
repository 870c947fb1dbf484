// Every candidate of every kernel of causal_conv1d on the host device, against the fp64 reference.

#include <gtest/gtest.h>

#include "src/ops/causal_conv1d/kernels.h"
#include "src/ops/causal_conv1d/op.h"
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
  problem.T = 2048;
  auto whole = ops::make_shape(problem);
  for (const int level : {0, 1, 2, 3}) {
    whole.level = level;
    EXPECT_EQ(bench().disagreeing(ops::conv_bwd_kernel(), ops::ConvBwdProblem(whole), kPartial), "") << level;
  }
  problem.B = 20;
  const auto many = ops::make_shape(problem);
  EXPECT_EQ(bench().disagreeing(ops::conv_dw_reduce_kernel(), ops::ConvDwReduceProblem(many), kDw), "");
}

TEST(ConvSpace, HasAtLeast24LegalCandidatesAKernelAtTheTrainingShapes) {
  DeviceFacts h200;
  h200.kind = DeviceKind::cuda;
  h200.shared_per_block = 227 * 1024;
  h200.shared_per_sm = 228 * 1024;
  using Size = ops::TrainingShape;
  for (const auto& size : {Size{16, 8192, 2048, 4}, Size{16, 8192, 4096, 4}, Size{1, 8192, 2048, 4}, Size{4, 4096, 2048, 4}}) {
    const auto shape = ops::make_shape(ops::conv_problem(size));
    EXPECT_GE(ops::conv_fwd_kernel().space.configs(ops::ConvFwdProblem(shape).constants(), h200).size(), 24U);
    EXPECT_GE(ops::conv_bwd_kernel().space.configs(ops::ConvBwdProblem(shape).constants(), h200).size(), 24U);
    EXPECT_GE(ops::conv_dw_reduce_kernel().space.configs(ops::ConvDwReduceProblem(shape).constants(), h200).size(), 24U);
  }
}

// The bits of dw hang on these: a change of a boundary is a change of the contract.
TEST(ConvSums, HaveTheirOrderFromTheSizeAlone) {
  struct Sized {
    std::int64_t B, T, D, packed;
    int level;
    bool paired;
  };
  for (const auto& [B, T, D, packed, level, paired] :
       {Sized{1, 1024, 1023, 0, 0, false}, Sized{1, 1024, 1024, 0, 1, false}, Sized{8192, 128, 1, 0, 0, false}, Sized{8192, 129, 1, 0, 0, false}, Sized{8192, 228, 1, 0, 1, false}, Sized{8192, 227, 1, 0, 0, false},
        Sized{1, 8191, 2048, 0, 1, false}, Sized{1, 8192, 2048, 0, 2, false}, Sized{64, 256, 1024, 0, 1, false}, Sized{64, 257, 1024, 0, 0, false}, Sized{64, 480, 1024, 0, 2, false},
        Sized{4, 4095, 2048, 0, 2, false}, Sized{4, 4096, 2048, 0, 3, false}, Sized{64, 512, 1024, 0, 2, false}, Sized{64, 513, 1024, 0, 0, false}, Sized{64, 1000, 512, 0, 2, false}, Sized{65, 1024, 512, 0, 3, false}, Sized{8, 2176, 2048, 0, 1, false},
        Sized{32, 2047, 1024, 0, 3, false}, Sized{32, 2048, 1024, 0, 0, true}, Sized{1, 129, 64, 7, 1, false}, Sized{1, 128, 64, 7, 0, false},
        Sized{1, 16384, 2048, 5, 1, false}, Sized{1, 32768, 2048, 5, 0, true}}) {
    auto problem = ops::conv_problem({B, T, D, 4});
    problem.packed_sequences = packed;
    const auto shape = ops::make_shape(problem);
    EXPECT_EQ(shape.level, level) << B << ' ' << T << ' ' << D << ' ' << packed;
    EXPECT_EQ(shape.paired, paired) << B << ' ' << T << ' ' << D << ' ' << packed;
  }
}

}  // namespace
}  // namespace strop
