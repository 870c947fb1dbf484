#include "tuner/measure.h"

#include <random>

#include <gtest/gtest.h>

namespace strop::tuner {
namespace {

Sampler constant(double us, int* asked = nullptr) {
  return [us, asked](int batches) {
    if (asked != nullptr) *asked += batches;
    return std::vector<double>(static_cast<std::size_t>(batches), us);
  };
}

TEST(Summary, IsMedianSpreadMinimumAndCount) {
  const auto time = summarise({5, 1, 2, 4, 3});
  EXPECT_DOUBLE_EQ(time.median_us, 3);
  EXPECT_DOUBLE_EQ(time.spread_us, 1);
  EXPECT_DOUBLE_EQ(time.min_us, 1);
  EXPECT_EQ(time.samples, 5);
}

TEST(Summary, LeavesOutWhatNoTimerCanGive) {
  const auto time = summarise({0, -1, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), 7});
  EXPECT_EQ(time.samples, 1);
  EXPECT_DOUBLE_EQ(time.median_us, 7);
  EXPECT_EQ(summarise({}).samples, 0);
}

TEST(Measure, AQuietCandidateNeedsFewSamples) {
  int asked = 0;
  const auto measured = measure(constant(100, &asked), {});
  EXPECT_EQ(measured.time.samples, StoppingRule{}.min_samples);
  EXPECT_EQ(asked, measured.time.samples);
}

TEST(Measure, ANoisyOneStopsAtTheMostSamplesOrTheTimeLimit) {
  std::mt19937 random(1);
  const auto noisy = [&](int batches) {
    std::vector<double> samples;
    for (int i = 0; i < batches; ++i) samples.push_back(100 + static_cast<double>(random() % 50));
    return samples;
  };
  EXPECT_EQ(measure(noisy, {}).time.samples, StoppingRule{}.max_samples);
  StoppingRule rule;
  rule.time_limit_us = 1500;
  EXPECT_LE(measure(noisy, rule).time.samples, 21);
}

TEST(Measure, ACandidateThatCannotWinIsDroppedAfterTheFirstSamples) {
  const auto measured = measure(constant(200), {}, 100);
  EXPECT_TRUE(measured.hopeless);
  EXPECT_EQ(measured.time.samples, StoppingRule{}.batch);
  EXPECT_FALSE(measure(constant(110), {}, 100).hopeless);
}

TEST(Measure, ASingleSlowSampleMakesNoCandidateHopeless) {
  int call = 0;
  const auto spiky = [&](int batches) {
    std::vector<double> samples(static_cast<std::size_t>(batches), 100);
    if (call++ == 0) samples[0] = 1e6;
    return samples;
  };
  EXPECT_FALSE(measure(spiky, {}, 100).hopeless);
}

TEST(Measure, ASamplerThatGivesNothingUsableEnds) { EXPECT_EQ(measure(constant(0), {}).time.samples, 0); }

TEST(HalfWidth, NarrowsWithTheNumberOfSamples) {
  std::mt19937 random(2);
  std::vector<double> samples;
  for (int i = 0; i < 1000; ++i) samples.push_back(100 + static_cast<double>(random() % 100) / 10);
  const std::vector<double> few(samples.begin(), samples.begin() + 20);
  EXPECT_LT(median_half_width(samples), median_half_width(few));
  EXPECT_TRUE(std::isinf(median_half_width({1, 2})));
}

}  // namespace
}  // namespace strop::tuner
