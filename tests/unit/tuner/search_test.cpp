#include "tuner/search.h"

#include <algorithm>
#include <map>
#include <random>

#include <gtest/gtest.h>

#include "strop/error.h"

namespace strop::tuner {
namespace {

// A judge over made-up times: candidate i takes `us[i]`, with noise of a share `noise` and now and then a spike.
class SyntheticJudge : public Judge {
 public:
  explicit SyntheticJudge(std::vector<double> us, double noise = 0, unsigned seed = 1) : us_(std::move(us)), noise_(noise), random_(seed) {}

  Trial prepare(std::size_t candidate) override {
    prepared.push_back(candidate);
    Trial trial;
    trial.config = Config{{"i", static_cast<std::int64_t>(candidate)}};
    if (const auto bad = verdicts.find(candidate); bad != verdicts.end()) trial.verdict = bad->second;
    return trial;
  }
  std::vector<double> sample(std::size_t candidate, int batches) override {
    ++sampled[candidate];
    if (candidate == throws_error) throw Error("launch refused");
    if (candidate == throws_memory) throw OutOfMemory("no room");
    if (candidate == throws_sticky) throw CudaError(700, "CUDA_ERROR_ILLEGAL_ADDRESS", "cuStreamSynchronize", "gone");
    std::normal_distribution<double> gauss(0, 1);
    std::vector<double> samples;
    for (int i = 0; i < batches; ++i) {
      const bool spike = random_() % 40 == 0 && noise_ > 0;
      samples.push_back(us_[candidate] * (1 + noise_ * std::abs(gauss(random_))) * (spike ? 1.5 : 1));
    }
    return samples;
  }
  void landed(const Trial& trial) override { landings.push_back(trial); }
  bool stop() override { return stop_after >= 0 && static_cast<int>(prepared.size()) >= stop_after; }

  std::map<std::size_t, Verdict> verdicts;
  std::size_t throws_error = 99, throws_memory = 99, throws_sticky = 99;
  int stop_after = -1;
  std::vector<std::size_t> prepared;
  std::map<std::size_t, int> sampled;
  std::vector<Trial> landings;

 private:
  std::vector<double> us_;
  double noise_;
  std::mt19937 random_;
};

std::vector<Config> configs(std::size_t n) {
  std::vector<Config> all;
  for (std::size_t i = 0; i < n; ++i) all.push_back(Config{{"i", static_cast<std::int64_t>(i)}});
  return all;
}

TEST(Search, TheFastestWinsAndEveryTrialLands) {
  SyntheticJudge judge({10, 8, 12});
  const auto result = search(configs(3), judge, {});
  EXPECT_EQ(result.winner, 1U);
  EXPECT_EQ(result.timings, 3);
  EXPECT_EQ(result.trials.size(), 3U);
  EXPECT_GE(judge.landings.size(), 3U);
  EXPECT_EQ(result.why, "beats the next finalist by 25.0 % (noise 0.0 %)");
}

TEST(Search, EqualTimesGoToTheFirstInDeclaredOrderWhateverIsReadyFirst) {
  SyntheticJudge judge({10, 9.95, 9.99});
  EXPECT_EQ(search(configs(3), judge, {}).winner, 0U);
}

TEST(Search, ABadVerdictNeverWinsHoweverFastItWouldBe) {
  SyntheticJudge judge({10, 1, 1, 1});
  judge.verdicts = {{1, Verdict::wrong_result}, {2, Verdict::does_not_compile}, {3, Verdict::not_reproducible}};
  const auto result = search(configs(4), judge, {});
  EXPECT_EQ(result.winner, 0U);
  EXPECT_FALSE(judge.sampled.contains(1));
  EXPECT_EQ(result.timings, 1);
}

TEST(Search, AFaultWhileTimingIsAVerdict) {
  SyntheticJudge judge({10, 5, 5});
  judge.throws_error = 1;
  judge.throws_memory = 2;
  const auto result = search(configs(3), judge, {});
  EXPECT_EQ(result.winner, 0U);
  EXPECT_EQ(result.trials[1].verdict, Verdict::launch_failed);
  EXPECT_EQ(result.trials[2].verdict, Verdict::out_of_memory);
}

TEST(Search, ALostContextIsStoredBeforeItIsThrown) {
  SyntheticJudge judge({10, 5});
  judge.throws_sticky = 1;
  EXPECT_THROW((void)search(configs(2), judge, {}), CudaError);
  ASSERT_FALSE(judge.landings.empty());
  EXPECT_EQ(judge.landings.back().verdict, Verdict::crashed);
}

TEST(Search, WithoutACandidateThatCouldWinThereIsNoWinner) {
  SyntheticJudge none({});
  EXPECT_FALSE(search({}, none, {}).winner);
  SyntheticJudge judge({1});
  judge.verdicts = {{0, Verdict::wrong_result}};
  const auto result = search(configs(1), judge, {});
  EXPECT_FALSE(result.winner);
  EXPECT_EQ(result.trials.size(), 1U);
  SyntheticJudge zero({0, 0});
  EXPECT_FALSE(search(configs(2), zero, {}).winner) << "a timer that gives 0 times nothing";
}

TEST(Search, KnownTrialsAreNotTimedAgainButFinalistsAre) {
  SyntheticJudge judge({10, 8, 12, 30});
  std::vector<std::optional<Trial>> known(4);
  Trial old;
  old.config = configs(4)[1];
  old.time = {8, 0.1, 7.9, 7};
  known[1] = old;
  const auto result = search(configs(4), judge, {}, known);
  EXPECT_EQ(result.winner, 1U);
  EXPECT_EQ(result.timings, 3);
  EXPECT_EQ(judge.sampled[1], SearchOptions{}.final_rounds);
}

TEST(Search, StopsWhenAsked) {
  SyntheticJudge judge({10, 9, 8, 7});
  judge.stop_after = 2;
  const auto result = search(configs(4), judge, {});
  EXPECT_TRUE(result.stopped);
  EXPECT_EQ(result.trials.size(), 2U);
  EXPECT_EQ(result.winner, 1U);
}

TEST(Search, EndsAtTheMemoryLimit) {
  SyntheticJudge judge({10, 5.02, 5.01, 5});
  SearchOptions options;
  options.limit_us = 5;
  const auto result = search(configs(4), judge, options);
  EXPECT_EQ(result.trials.size(), 2U);
  EXPECT_EQ(result.winner, 1U);
}

TEST(Search, IsWithinTwoPercentOfTheBestUnderNoiseAndSpikes) {
  int within = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    std::vector<double> us;
    for (int i = 0; i < 30; ++i) us.push_back(100 + static_cast<double>(random() % 1000) / 10);
    const double best = *std::min_element(us.begin(), us.end());
    SyntheticJudge judge(us, 0.01, seed);
    const auto result = search(configs(us.size()), judge, {});
    within += us[*result.winner] <= 1.02 * best ? 1 : 0;
  }
  EXPECT_EQ(within, 200);
}

TEST(Search, ChoosesTheSameWinnerFromRunToRun) {
  const std::vector<double> us{104, 103, 100, 101.5, 108, 120, 100.6};
  std::map<std::size_t, int> wins;
  for (unsigned seed = 0; seed < 20; ++seed) {
    SyntheticJudge judge(us, 0.004, seed);
    ++wins[*search(configs(us.size()), judge, {}).winner];
  }
  const auto most = std::max_element(wins.begin(), wins.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  EXPECT_GE(most->second, 19);
}

}  // namespace
}  // namespace strop::tuner
