// What candidates do wrong: a verdict each, never a number in a comparison and never an abort.

#include <gtest/gtest.h>

#include <limits>

#include "strop/error.h"
#include "tests/unit/tuner/made_up_judge.h"

namespace strop::tuner {
namespace {

constexpr int kIllegalAddress = 700;  // leaves no usable context
constexpr int kOutOfResources = 701;

TEST(SearchFailures, all_failed_gives_no_winner_and_every_reason) {
  MadeUpJudge judge({1, 2, 3});
  judge.verdicts = {{0, Verdict::does_not_compile}, {1, Verdict::wrong_result}, {2, Verdict::too_much_shared_memory}};
  const auto result = judge.search();
  EXPECT_FALSE(result.winner);
  ASSERT_EQ(result.trials.size(), 3u);
  EXPECT_EQ(result.trials[1].verdict, Verdict::wrong_result);
  EXPECT_EQ(result.trials[1].detail, "planted");
  EXPECT_EQ(result.timings, 0);
  EXPECT_TRUE(judge.sampled.empty());
  EXPECT_EQ(judge.landings.size(), 3u);
}

TEST(SearchFailures, a_wrong_candidate_does_not_win_however_fast) {
  MadeUpJudge judge({100, 1, 99});
  judge.verdicts[1] = Verdict::not_reproducible;
  EXPECT_NE(judge.search().winner, 1u);
}

TEST(SearchFailures, an_error_in_a_timing_is_launch_failed_with_its_words) {
  MadeUpJudge judge({100, 50});
  judge.faults[1] = [](int) { throw Error("no such luck"); };
  const auto result = judge.search();
  EXPECT_EQ(result.winner, 0u);
  EXPECT_EQ(result.trials[1].verdict, Verdict::launch_failed);
  EXPECT_EQ(result.trials[1].detail, "no such luck");
  EXPECT_EQ(result.timings, 2);
}

TEST(SearchFailures, a_driver_error_that_leaves_the_context_alive_is_launch_failed) {
  MadeUpJudge judge({100, 50});
  judge.faults[1] = [](int) {
    throw CudaError(kOutOfResources, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "cuLaunchKernelEx", "too much");
  };
  const auto result = judge.search();
  EXPECT_EQ(result.trials[1].verdict, Verdict::launch_failed);
  EXPECT_EQ(result.winner, 0u);
}

TEST(SearchFailures, memory_that_could_not_be_had_is_said_and_not_held_against_the_next_run) {
  MadeUpJudge judge({100, 50});
  judge.faults[1] = [](int) { throw OutOfMemory("no room"); };
  const auto result = judge.search();
  ASSERT_EQ(result.trials[1].verdict, Verdict::out_of_memory);
  MadeUpJudge next({100, 50});
  const auto again = next.search({}, {result.trials[0], result.trials[1]});
  EXPECT_EQ(again.winner, 1u);
}

TEST(SearchFailures, a_lost_context_is_stored_and_ends_the_search_in_the_first_timing_and_in_the_final) {
  for (const int nth : {0, 2}) {
    MadeUpJudge judge({100, 99});
    judge.faults[1] = [nth](int now) {
      if (now == nth) throw CudaError(kIllegalAddress, "CUDA_ERROR_ILLEGAL_ADDRESS", "cuEventQuery", "gone");
    };
    EXPECT_THROW(judge.search(), CudaError);
    ASSERT_FALSE(judge.landings.empty());
    EXPECT_EQ(judge.landings.back().verdict, Verdict::crashed);
    EXPECT_EQ(judge.landings.back().config.at("c"), 1);
  }
}

TEST(SearchFailures, a_finalist_that_fails_in_the_final_is_out) {
  MadeUpJudge judge({100, 90});
  judge.faults[1] = [](int nth) {
    if (nth == 3) throw Error("tired");
  };
  const auto result = judge.search();
  EXPECT_EQ(result.winner, 0u);
  EXPECT_EQ(result.trials[1].verdict, Verdict::launch_failed);
  EXPECT_EQ(judge.landings.back().verdict, Verdict::ok);
  EXPECT_EQ(judge.landings.back().config.at("c"), 0);
}

TEST(SearchFailures, when_every_finalist_fails_those_behind_them_are_next) {
  MadeUpJudge judge({100, 90, 92});
  for (const std::size_t candidate : {1, 2})
    judge.faults[candidate] = [](int nth) {
      if (nth > 0) throw Error("tired");
    };
  SearchOptions options;
  options.finalists = 2;
  const auto result = judge.search(options);
  EXPECT_EQ(result.winner, 0u);
  EXPECT_EQ(result.why, "the only candidate that could win");
}

TEST(SearchFailures, when_everything_fails_in_the_final_there_is_no_winner) {
  MadeUpJudge judge({100, 90});
  for (const std::size_t candidate : {0, 1})
    judge.faults[candidate] = [](int nth) {
      if (nth > 0) throw Error("tired");
    };
  EXPECT_FALSE(judge.search().winner);
}

TEST(SearchFailures, samples_that_are_no_times_are_a_failed_launch_and_never_the_least_number) {
  for (const double nothing :
       {std::numeric_limits<double>::quiet_NaN(), 0.0, -3.0, -std::numeric_limits<double>::infinity()}) {
    MadeUpJudge judge({100, 50, 120});
    judge.always[1] = nothing;
    const auto result = judge.search();
    EXPECT_EQ(result.winner, 0u) << nothing;
    EXPECT_EQ(result.trials[1].verdict, Verdict::launch_failed);
    EXPECT_EQ(result.trials[1].detail, "the timer gave no usable time");
  }
}

TEST(SearchFailures, a_stored_trial_without_a_usable_time_is_judged_again) {
  MadeUpJudge judge({100, 90});
  Trial empty;
  empty.config = judge.configs()[1];
  const auto result = judge.search({}, {std::nullopt, empty});
  EXPECT_EQ(result.winner, 1u);
  EXPECT_EQ(result.timings, 2);
}

TEST(SearchFailures, a_known_finalist_that_no_longer_compiles_leaves_the_field) {
  MadeUpJudge judge({100, 90});
  Trial before;
  before.config = judge.configs()[1];
  before.time = {90, 0, 90, 7};
  judge.verdicts[1] = Verdict::does_not_load;
  const auto result = judge.search({}, {std::nullopt, before});
  EXPECT_EQ(result.winner, 0u);
  EXPECT_EQ(result.trials[1].verdict, Verdict::does_not_load);
}

TEST(SearchFailures, an_exception_that_is_no_verdict_passes_through) {
  MadeUpJudge judge({100});
  judge.faults[0] = [](int) { throw std::logic_error("a fault of ours"); };
  EXPECT_THROW(judge.search(), std::logic_error);
}

}  // namespace
}  // namespace strop::tuner
