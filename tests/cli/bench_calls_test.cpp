// The engine of `strop bench` on layouts that the command line has no words for: what its suite runs on a GPU, small
// and on the host device, untuned.

#include "tools/strop/bench_calls.h"

#include <gtest/gtest.h>

#include <cmath>

namespace strop::cli {
namespace {

std::shared_ptr<Library> untuned() {
  return Library::open({.device = "host", .cache_path = ":memory:", .on_miss = MissPolicy::nearest});
}

void expect_measured(const CausalConv1dProblem& problem) {
  const auto library = untuned(), ceilings = untuned();
  const auto times = measure_calls(library, *ceilings, problem);
  const double weights = static_cast<double>(problem.D * problem.W) * 4;
  const double tensor = static_cast<double>(problem.B * problem.T * problem.D) * 2;
  EXPECT_EQ(times.forward.bytes, 2 * tensor + weights);
  EXPECT_EQ(times.backward.bytes, 3 * tensor + 2 * weights);
  for (const auto* time : {&times.forward, &times.backward}) {
    EXPECT_EQ(time->call.samples, 3);
    EXPECT_EQ(time->ceiling.samples, 3);
    EXPECT_TRUE(std::isfinite(time->host_us) && time->host_us > 0);
  }
  ASSERT_EQ(times.forward.configs.size(), 1u);
  ASSERT_EQ(times.backward.configs.size(), 2u);
  EXPECT_EQ(times.backward.configs[1].first, "causal_conv1d_dw_reduce");
  EXPECT_EQ(library->counters().timings + ceilings->counters().timings, 0) << "tuned behind the caller's back";
}

TEST(BenchCalls, packed_sequences_have_bounds_on_both_sides) {
  CausalConv1dProblem problem;
  problem.B = 1, problem.T = 70, problem.D = 8;
  problem.packed_sequences = 5;
  expect_measured(problem);
}

TEST(BenchCalls, a_misaligned_slice_is_given_as_the_problem_says) {
  CausalConv1dProblem problem;
  problem.B = 2, problem.T = 9, problem.D = 8;
  problem.x_strides = {9 * 9, 9, 1};
  problem.alignment = 4;
  expect_measured(problem);
}

}  // namespace
}  // namespace strop::cli
