#include "tuner/search.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/tuner/made_up_judge.h"

namespace strop::tuner {
namespace {

using Indices = std::vector<std::size_t>;

Trial known_trial(const Config& config, double median_us, Verdict verdict = Verdict::ok) {
  Trial trial;
  trial.config = config;
  trial.verdict = verdict;
  if (verdict == Verdict::ok) trial.time = {median_us, 0, median_us, 7};
  return trial;
}

TEST(Search, finds_the_fastest_and_says_why) {
  MadeUpJudge judge({120, 100, 110});
  const auto result = judge.search();
  EXPECT_EQ(result.winner, 1u);
  EXPECT_EQ(result.why, "beats {c=2} by 10.0 % (noise 0.0 %)");
  EXPECT_EQ(result.reached, (Indices{0, 1, 2}));
  EXPECT_EQ(result.timings, 3);
  EXPECT_FALSE(result.stopped);
  EXPECT_EQ(result.trials[1].time.median_us, 100);
  EXPECT_EQ(result.trials[1].time.samples, 25);  // of the final
}

TEST(Search, no_candidates_give_no_winner_and_ask_nothing) {
  MadeUpJudge judge({});
  const auto result = judge.search();
  EXPECT_FALSE(result.winner);
  EXPECT_TRUE(result.trials.empty());
  EXPECT_FALSE(result.stopped);
  EXPECT_TRUE(judge.landings.empty());
}

TEST(Search, one_candidate_wins_without_a_final) {
  MadeUpJudge judge({50});
  const auto result = judge.search();
  EXPECT_EQ(result.winner, 0u);
  EXPECT_EQ(result.why, "the only candidate that could win");
  EXPECT_EQ(judge.sampled.size(), 1u);
}

TEST(Search, the_default_is_judged_first_whatever_is_ready_and_the_rest_as_the_judge_wishes) {
  MadeUpJudge judge({100, 101, 102, 103});
  judge.choose = [](const Indices& left) { return left.back(); };
  EXPECT_EQ(judge.search().reached, (Indices{0, 3, 2, 1}));
}

TEST(Search, a_wish_for_what_is_not_left_is_answered_with_the_next_in_order) {
  MadeUpJudge judge({100, 101, 102});
  judge.choose = [](const Indices&) { return std::optional<std::size_t>(0); };
  EXPECT_EQ(judge.search().reached, (Indices{0, 1, 2}));
}

TEST(Search, the_order_of_judging_changes_nothing_inside_or_outside_the_noise) {
  for (const auto& times : {std::vector<double>{100, 95, 80, 99}, std::vector<double>{100.4, 100.2, 100, 100.3}}) {
    MadeUpJudge forward(times);
    MadeUpJudge backward(times);
    backward.choose = [](const Indices& left) { return left.back(); };
    EXPECT_EQ(forward.search().winner, backward.search().winner);
  }
}

TEST(Search, reversed_candidates_give_the_same_winner_outside_the_noise_and_the_first_declared_inside) {
  EXPECT_EQ(MadeUpJudge({100, 95, 80, 99}).search().winner, 2u);
  EXPECT_EQ(MadeUpJudge({99, 80, 95, 100}).search().winner, 1u);
  EXPECT_EQ(MadeUpJudge({100.4, 100.2, 100, 150}).search().winner, 0u);
  EXPECT_EQ(MadeUpJudge({150, 100, 100.2, 100.4}).search().winner, 1u);
}

TEST(Search, the_first_of_many_equals_wins_though_others_were_luckier_at_first) {
  std::vector<double> times{200};
  for (int i = 0; i < 12; ++i) times.push_back(100.5 - 0.04 * i);
  const auto result = MadeUpJudge(times).search();
  EXPECT_EQ(result.winner, 1u);
  EXPECT_NE(result.why.find("tie within 0.4 %"), std::string::npos) << result.why;
}

TEST(Search, the_hopeless_are_left_early_with_a_verdict_and_their_time) {
  MadeUpJudge judge({100, 500, 126, 124});
  const auto result = judge.search();
  EXPECT_EQ(result.trials[1].verdict, Verdict::too_slow);
  EXPECT_EQ(result.trials[1].detail, "500.0 us at best, 100.0 us is the best so far");
  EXPECT_EQ(result.trials[1].time.median_us, 500);
  EXPECT_EQ(result.trials[2].verdict, Verdict::too_slow);
  EXPECT_EQ(result.trials[3].verdict, Verdict::ok);
}

TEST(Search, finalists_are_timed_in_turns) {
  MadeUpJudge judge({100, 103, 200});
  judge.search();
  EXPECT_EQ(judge.sampled, (Indices{0, 1, 2, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1}));
}

TEST(Search, every_trial_lands_once_when_judged_and_again_when_a_finalist_is_re_timed) {
  MadeUpJudge judge({100, 103, 500, 400});
  judge.verdicts[3] = Verdict::wrong_result;
  judge.search();
  std::vector<std::int64_t> order;
  for (const auto& trial : judge.landings) order.push_back(trial.config.at("c"));
  EXPECT_EQ(order, (std::vector<std::int64_t>{0, 1, 2, 3, 0, 1}));
  EXPECT_EQ(judge.landings[0].time.samples, 7);
  EXPECT_EQ(judge.landings[4].time.samples, 25);
}

TEST(Search, a_candidate_at_the_memory_limit_ends_it) {
  MadeUpJudge judge({120, 100.5, 100, 90});
  SearchOptions options;
  options.limit_us = 100;
  const auto result = judge.search(options);
  EXPECT_TRUE(result.stopped);
  EXPECT_EQ(result.reached, (Indices{0, 1}));
  EXPECT_EQ(result.winner, 1u);
  EXPECT_NE(result.why.find("at the memory limit of 100.0 us"), std::string::npos) << result.why;
}

TEST(Search, stop_is_honoured_before_the_next_candidate_and_the_best_so_far_wins) {
  MadeUpJudge judge({120, 100, 90, 80});
  judge.stop_when = [&] { return judge.prepared.size() >= 2; };
  const auto result = judge.search();
  EXPECT_TRUE(result.stopped);
  EXPECT_EQ(result.reached, (Indices{0, 1}));
  EXPECT_EQ(result.winner, 1u);
  EXPECT_EQ(judge.sampled.size(), 2u);  // no final
  EXPECT_NE(result.why.find("stopped after 2 of 4 candidates"), std::string::npos) << result.why;
}

TEST(Search, stop_in_a_final_ends_it_before_the_next_timing) {
  MadeUpJudge judge({100, 105, 110});
  judge.stop_when = [&] { return judge.sampled.size() >= 5; };
  const auto result = judge.search();
  EXPECT_EQ(judge.sampled.size(), 5u);
  EXPECT_EQ(result.winner, 0u);
  EXPECT_FALSE(result.stopped);
}

TEST(Search, stop_before_anything_gives_no_winner) {
  MadeUpJudge judge({100});
  judge.stop_when = [] { return true; };
  const auto result = judge.search();
  EXPECT_FALSE(result.winner);
  EXPECT_TRUE(result.stopped);
  EXPECT_TRUE(result.reached.empty());
}

TEST(Search, trials_of_an_interrupted_run_are_taken_as_they_are) {
  MadeUpJudge judge({100, 90, 80, 70});
  std::vector<std::optional<Trial>> known(4);
  known[0] = known_trial(judge.configs()[0], 100);
  known[3] = known_trial(judge.configs()[3], 0, Verdict::wrong_result);
  SearchOptions options;
  options.finalists = 2;
  const auto result = judge.search(options, known);
  EXPECT_EQ(result.winner, 2u);
  EXPECT_EQ(judge.prepared, (Indices{1, 2}));
  EXPECT_EQ(result.timings, 2);
  EXPECT_EQ(result.trials[3].verdict, Verdict::wrong_result);
  EXPECT_EQ(result.reached.size(), 4u);
}

TEST(Search, known_finalists_are_made_ready_and_timed_again) {
  MadeUpJudge judge({100, 90, 300});
  std::vector<std::optional<Trial>> known(3);
  known[0] = known_trial(judge.configs()[0], 80);  // it had a good day
  known[1] = known_trial(judge.configs()[1], 90);
  const auto result = judge.search({}, known);
  EXPECT_EQ(result.winner, 1u);
  EXPECT_EQ(judge.prepared, (Indices{2, 0, 1}));
  EXPECT_EQ(result.trials[0].time.median_us, 100);
  EXPECT_EQ(result.timings, 3);
}

TEST(Search, a_known_winner_alone_is_timed_in_this_run) {
  MadeUpJudge judge({100});
  const auto result = judge.search({}, {known_trial(judge.configs()[0], 80)});
  EXPECT_EQ(result.winner, 0u);
  EXPECT_EQ(result.trials[0].time.median_us, 100);
  EXPECT_EQ(result.timings, 1);
}

TEST(Search, the_same_samples_give_the_same_result) {
  std::vector<double> times;
  for (int i = 0; i < 30; ++i) times.push_back(100 + i * 37 % 30);
  MadeUpJudge first(times, gaussian(0.01), 11);
  MadeUpJudge second(times, gaussian(0.01), 11);
  const auto a = first.search();
  const auto b = second.search();
  EXPECT_EQ(a.winner, b.winner);
  EXPECT_EQ(a.why, b.why);
  EXPECT_EQ(first.sampled, second.sampled);
}

}  // namespace
}  // namespace strop::tuner
