// causal_conv1d on a GPU: every candidate against fp64, sums bit-equal whatever the config, and offsets past what 32 bits hold.

#include <algorithm>
#include <cstring>

#include <gtest/gtest.h>

#include "src/ops/causal_conv1d/kernels.h"
#include "src/ops/causal_conv1d/problems.h"
#include "src/ops/causal_conv1d/state_problems.h"
#include "tests/support/candidates.h"
#include "tests/support/conv_cases.h"
#include "tuner/check.h"

namespace strop {
namespace {

device::Device& gpu() {
  static const auto device = device::open_cuda(0);
  return *device;
}

test::CandidateBench& bench() {
  static const auto toolchain = jit::make_nvrtc();
  static test::CandidateBench bench(gpu(), *toolchain);
  return bench;
}

#define STROP_NEEDS_GPU() \
  if (const auto probe = device::probe_cuda(); probe.status != device::CudaStatus::ok) GTEST_SKIP() << "no GPU: " << probe.reason

class ConvOnGpu : public testing::TestWithParam<test::ConvCase> {
 protected:
  template <class Problem>
  void expect_all_right(const Kernel& kernel) {
    const auto shape = test::shape_of(GetParam());
    const auto judged = bench().judge(kernel, [&] { return std::make_unique<Problem>(shape); });
    EXPECT_GE(judged.size(), 1U);
    EXPECT_EQ(test::failures(judged), "");
  }
};

TEST_P(ConvOnGpu, ForwardIsRightInEveryConfig) {
  STROP_NEEDS_GPU();
  expect_all_right<ops::ConvFwdProblem>(ops::conv_fwd_kernel());
}
TEST_P(ConvOnGpu, BackwardIsRightInEveryConfig) {
  STROP_NEEDS_GPU();
  expect_all_right<ops::ConvBwdProblem>(ops::conv_bwd_kernel());
}
TEST_P(ConvOnGpu, TheReductionIsRightInEveryConfig) {
  STROP_NEEDS_GPU();
  expect_all_right<ops::ConvDwReduceProblem>(ops::conv_dw_reduce_kernel());
}

INSTANTIATE_TEST_SUITE_P(Gpu, ConvOnGpu, testing::ValuesIn(test::conv_cases()), [](const auto& tested) { return tested.param.name; });

using ConvOnGpuWithStates = ConvOnGpu;
TEST_P(ConvOnGpuWithStates, FinalStatesAreRight) {
  STROP_NEEDS_GPU();
  expect_all_right<ops::ConvFinalStateProblem>(ops::conv_final_state_kernel());
}
TEST_P(ConvOnGpuWithStates, StateGradientsAreRight) {
  STROP_NEEDS_GPU();
  expect_all_right<ops::ConvStateBwdProblem>(ops::conv_state_bwd_kernel());
}
INSTANTIATE_TEST_SUITE_P(Gpu, ConvOnGpuWithStates, testing::ValuesIn(test::conv_cases_with_states()), [](const auto& tested) { return tested.param.name; });

TEST(ConvSums, AreTheSameBitsWhateverConfigWins) {
  STROP_NEEDS_GPU();
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

// Device memory filled with a seeded pattern of bf16 values.
class Filled {
 public:
  Filled(std::size_t elements, std::uint64_t seed) : buffer_(gpu(), elements * 2) {
    TensorSpec spec;
    spec.type = DType::bf16;
    spec.elements = static_cast<std::int64_t>(std::min<std::size_t>(elements, 1 << 20));
    const auto pattern = tuner::make_input(spec, seed);
    gpu().upload(buffer_.data(), pattern.data(), pattern.size());
    for (std::size_t done = pattern.size(); done < elements * 2;) {
      const auto more = std::min(done, elements * 2 - done);
      gpu().copy(at_byte(done), buffer_.data(), more);
      done += more;
    }
  }
  void* at(std::size_t element) const { return at_byte(2 * element); }

 private:
  void* at_byte(std::size_t byte) const { return static_cast<std::byte*>(buffer_.data()) + byte; }
  device::Buffer buffer_;
};

std::vector<std::uint16_t> downloaded(const void* from, std::size_t elements) {
  std::vector<std::uint16_t> values(elements);
  gpu().download(values.data(), from, elements * 2);
  return values;
}

// The last rows of a long problem against the same rows as a short problem of their own: bit-equal, except the first W-1.
void expect_last_rows_agree(const CausalConv1dProblem& whole, const Filled& x) {
  constexpr std::int64_t kRows = 256;
  const auto shape = ops::make_shape(whole);
  CausalConv1dProblem tail = whole;
  tail.T = kRows;
  tail.x_strides = {shape.x.sequence, shape.x.row, shape.x.channel};
  tail.y_strides = {};
  const auto elements = static_cast<std::size_t>(whole.T * whole.D);
  const auto tail_elements = static_cast<std::size_t>(kRows * whole.D);
  const Filled weight(static_cast<std::size_t>(whole.D * whole.W), 7);
  const device::Buffer y(gpu(), 2 * elements);
  const device::Buffer y_tail(gpu(), 2 * tail_elements);
  const Config config{{"vec", 1}, {"rows", 16}, {"lanes", 32}, {"threads", 128}, {"min_blocks", 4}};
  void* const all[] = {x.at(0), weight.at(0), nullptr, y.data(), nullptr, nullptr, nullptr};
  bench().run(ops::conv_fwd_kernel(), ops::ConvFwdProblem(shape), config, all);
  const auto begin = static_cast<std::size_t>((whole.T - kRows) * shape.x.row);
  void* const last[] = {x.at(begin), weight.at(0), nullptr, y_tail.data(), nullptr, nullptr, nullptr};
  bench().run(ops::conv_fwd_kernel(), ops::ConvFwdProblem(ops::make_shape(tail)), config, last);
  const auto skip = static_cast<std::size_t>((whole.W - 1) * whole.D);
  const auto got = downloaded(static_cast<std::byte*>(y.data()) + 2 * (elements - tail_elements), tail_elements);
  const auto expected = downloaded(y_tail.data(), tail_elements);
  EXPECT_EQ(std::memcmp(got.data() + skip, expected.data() + skip, 2 * (tail_elements - skip)), 0);
}

// Likewise backward: dx, except in the first W-1 rows, and the last unit's sums, which are the tail's own.
void expect_last_rows_agree(const CausalConv1dProblem& whole, const Filled& x, const Filled& dy) {
  constexpr std::int64_t kRows = 256;  // two units
  auto shape = ops::make_shape(whole);
  CausalConv1dProblem tail = whole;
  tail.T = kRows;
  auto tail_shape = ops::make_shape(tail);
  shape.level = tail_shape.level = 0;
  shape.paired = tail_shape.paired = false;  // else the last piece shares its partial with one of the middle
  const auto elements = static_cast<std::size_t>(whole.T * whole.D), tail_elements = static_cast<std::size_t>(kRows * whole.D);
  const auto sums = static_cast<std::size_t>(shape.sums() * whole.D);
  const auto partials = static_cast<std::size_t>(shape.partials()) * sums, tail_partials = static_cast<std::size_t>(tail_shape.partials()) * sums;
  const Filled weight(static_cast<std::size_t>(whole.D * whole.W), 7);
  const device::Buffer dx(gpu(), 2 * elements), dx_tail(gpu(), 2 * tail_elements), partial(gpu(), 4 * partials), partial_tail(gpu(), 4 * tail_partials);
  const auto config = ops::conv_bwd_kernel().space.fallback();
  void* const all[] = {x.at(0), weight.at(0), nullptr, dy.at(0), dx.data(), partial.data(), nullptr, nullptr};
  bench().run(ops::conv_bwd_kernel(), ops::ConvBwdProblem(shape), config, all);
  const auto begin = elements - tail_elements;
  void* const last[] = {x.at(begin), weight.at(0), nullptr, dy.at(begin), dx_tail.data(), partial_tail.data(), nullptr, nullptr};
  bench().run(ops::conv_bwd_kernel(), ops::ConvBwdProblem(tail_shape), config, last);
  const auto skip = static_cast<std::size_t>((whole.W - 1) * whole.D);
  const auto got = downloaded(static_cast<std::byte*>(dx.data()) + 2 * begin, tail_elements);
  const auto expected = downloaded(dx_tail.data(), tail_elements);
  EXPECT_EQ(std::memcmp(got.data() + skip, expected.data() + skip, 2 * (tail_elements - skip)), 0);
  const auto got_sums = downloaded(static_cast<std::byte*>(partial.data()) + 4 * (partials - sums), 2 * sums);
  const auto expected_sums = downloaded(static_cast<std::byte*>(partial_tail.data()) + 4 * (tail_partials - sums), 2 * sums);
  EXPECT_EQ(got_sums, expected_sums);
  EXPECT_NE(std::count(got_sums.begin(), got_sums.end(), 0), static_cast<std::ptrdiff_t>(got_sums.size()));
}

CausalConv1dProblem long_problem(std::int64_t T, std::int64_t D) {
  CausalConv1dProblem problem;
  problem.B = 1;
  problem.T = T;
  problem.D = D;
  problem.weight_type = DType::bf16;
  return problem;
}

TEST(ConvOffsets, ANarrowSliceOfWideRowsPastTwoToThe31Elements) {
  STROP_NEEDS_GPU();
  auto problem = long_problem(60000, 64);
  problem.x_strides = {0, 36864, 1};
  expect_last_rows_agree(problem, Filled(std::size_t{60000} * 36864, 1));
}

TEST(ConvOffsets, DenseTensorsPastTwoToThe32Elements) {
  STROP_NEEDS_GPU();
  const auto problem = long_problem(1 << 20, 4104);
  expect_last_rows_agree(problem, Filled(static_cast<std::size_t>(problem.T * problem.D), 2));
}

TEST(ConvOffsets, GradientsOfDenseTensorsPastTwoToThe32Elements) {
  STROP_NEEDS_GPU();
  const auto problem = long_problem(1 << 20, 4104);
  const auto elements = static_cast<std::size_t>(problem.T * problem.D);
  expect_last_rows_agree(problem, Filled(elements, 2), Filled(elements, 3));
}

TEST(ConvOffsets, MoreSequencesThanAGridAxisHasBlocks) {
  STROP_NEEDS_GPU();
  CausalConv1dProblem problem;
  problem.B = 70000;
  problem.T = 5;
  problem.D = 8;
  const auto shape = ops::make_shape(problem);
  EXPECT_EQ(test::failures(bench().judge(ops::conv_fwd_kernel(), [&] { return std::make_unique<ops::ConvFwdProblem>(shape); }, 9)), "");
  EXPECT_EQ(test::failures(bench().judge(ops::conv_bwd_kernel(), [&] { return std::make_unique<ops::ConvBwdProblem>(shape); }, 9)), "");
}

}  // namespace
}  // namespace strop
