#include "tuner/measure.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/unit/tuner/made_up_judge.h"

namespace strop::tuner {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::vector<double> some(int count, double time) { return std::vector<double>(static_cast<std::size_t>(count), time); }

TEST(Measure, a_summary_holds_median_quartile_spread_least_and_count) {
  const auto time = summarise({5, 1, 2, 4, 3});
  EXPECT_EQ(time.median_us, 3);
  EXPECT_EQ(time.spread_us, 1);
  EXPECT_EQ(time.min_us, 1);
  EXPECT_EQ(time.samples, 5);
  EXPECT_EQ(summarise({1, 2, 3, 10}).median_us, 2.5);
}

TEST(Measure, what_is_no_time_is_dropped_before_anything_is_computed) {
  const auto time = summarise({kNaN, -1, 0, kInfinity, -kInfinity, 7});
  EXPECT_EQ(time.samples, 1);
  EXPECT_EQ(time.median_us, 7);
  EXPECT_EQ(summarise({}).samples, 0);
  EXPECT_EQ(summarise({kNaN, 0}).samples, 0);
}

TEST(Measure, the_interval_around_the_median_is_made_of_order_statistics) {
  EXPECT_TRUE(std::isinf(median_half_width({1, 2})));
  EXPECT_EQ(median_half_width({1, 2, 3, 4, 5, 6, 7}), 3);  // ranks 1 and 7: 98.4 %
  std::vector<double> hundred;
  for (int i = 1; i <= 100; ++i) hundred.push_back(i);
  EXPECT_EQ(median_half_width(hundred), 10.5);  // ranks 40 and 61: 96.5 %
}

TEST(Measure, the_interval_holds_the_true_median_in_95_of_100_experiments) {
  Noise noise(3);
  for (const int count : {7, 15, 35, 63}) {
    int held = 0;
    for (int experiment = 0; experiment < 2000; ++experiment) {
      std::vector<double> samples;
      for (int i = 0; i < count; ++i) samples.push_back(100 + noise.normal());
      std::sort(samples.begin(), samples.end());
      const double n = count;  // the interval need not be centred on the median: look at its ends
      const auto low = static_cast<std::size_t>(std::max(0.0, std::floor((n - 1) / 2 - 0.98 * std::sqrt(n))));
      held += samples[low] <= 100 && samples[samples.size() - 1 - low] >= 100;
      EXPECT_EQ(median_half_width(samples), 0.5 * (samples[samples.size() - 1 - low] - samples[low]));
    }
    EXPECT_GE(held, 1900) << count << " samples";
  }
}

TEST(Measure, quiet_samples_end_it_at_the_least_number) {
  int asked = 0;
  const auto measured = measure(
      [&](int batches) {
        asked += batches;
        return some(batches, 10);
      },
      {});
  EXPECT_EQ(asked, StoppingRule{}.min_samples);
  EXPECT_EQ(measured.time.median_us, 10);
  EXPECT_FALSE(measured.hopeless);
}

TEST(Measure, noise_asks_for_more_samples_up_to_the_most) {
  const auto samples_at = [](double share) {
    Noise noise(7);
    const auto model = gaussian(share);
    return measure(
               [&](int batches) {
                 std::vector<double> samples;
                 for (int i = 0; i < batches; ++i) samples.push_back(model(100, noise, i));
                 return samples;
               },
               {})
        .time.samples;
  };
  EXPECT_EQ(samples_at(0.0005), 7);
  EXPECT_GT(samples_at(0.01), 7);
  EXPECT_EQ(samples_at(0.2), 63);
}

TEST(Measure, the_time_limit_ends_it_after_the_least_number) {
  double t = 0;
  const auto measured = measure(
      [&](int batches) {
        std::vector<double> s;
        for (int i = 0; i < batches; ++i) s.push_back(20000 + 1000 * (t += 1));
        return s;
      },
      {});
  EXPECT_EQ(measured.time.samples, 7);
}

TEST(Measure, the_hopeless_are_left_after_the_first_batch) {
  const auto measured = measure([](int batches) { return some(batches, 200); }, {}, 100);
  EXPECT_TRUE(measured.hopeless);
  EXPECT_EQ(measured.time.samples, 7);
  EXPECT_EQ(measured.time.median_us, 200);
}

TEST(Measure, two_quick_samples_among_slow_ones_save_nobody_and_three_do) {
  const auto with_quick = [](int quick) {
    return measure(
               [quick](int batches) {
                 auto samples = some(batches, 200);
                 for (int i = 0; i < quick; ++i) samples[static_cast<std::size_t>(i)] = 100;
                 return samples;
               },
               {}, 100)
        .hopeless;
  };
  EXPECT_TRUE(with_quick(2));
  EXPECT_FALSE(with_quick(3));
}

TEST(Measure, a_timer_that_gives_nothing_usable_ends_it_too) {
  int calls = 0;
  for (const double nothing : {kNaN, 0.0, -5.0}) {
    const auto measured = measure(
        [&](int batches) {
          ++calls;
          return some(batches, nothing);
        },
        {});
    EXPECT_EQ(measured.time.samples, 0);
    EXPECT_TRUE(measured.samples.empty());
  }
  EXPECT_EQ(measure(
                [&](int) {
                  ++calls;
                  return std::vector<double>{};
                },
                {})
                .time.samples,
            0);
  EXPECT_EQ(calls, 4 * 9);
}

TEST(Measure, a_rule_that_asks_for_no_samples_at_a_time_still_ends) {
  StoppingRule rule;
  rule.batch = 0;
  EXPECT_EQ(measure([](int batches) { return some(batches, 10); }, rule).time.samples, rule.min_samples);
}

}  // namespace
}  // namespace strop::tuner
