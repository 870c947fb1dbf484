#include "tuner/final.h"

#include <gtest/gtest.h>

#include <limits>

namespace strop::tuner {
namespace {

const std::vector<Config> kConfigs{Config{{"c", 0}}, Config{{"c", 1}}, Config{{"c", 2}}};

Finalist finalist(std::size_t candidate, double first_us, std::vector<std::vector<double>> rounds) {
  return {candidate, {first_us, 0, first_us, 7}, std::move(rounds)};
}

TEST(Final, the_fastest_wins_and_the_sentence_says_by_how_much) {
  const auto decision =
      decide({finalist(0, 1, {{110}, {110}, {110}}), finalist(1, 1, {{100}, {100}, {100}})}, kConfigs, {});
  EXPECT_EQ(decision.position, 1u);
  EXPECT_EQ(decision.why, "beats {c=0} by 10.0 % (noise 0.0 %)");
}

TEST(Final, equals_go_to_the_first_in_order) {
  const auto decision = decide({finalist(0, 1, {{100.5}, {100.5}, {100.5}}), finalist(1, 1, {{100}, {100}, {100}}),
                                finalist(2, 1, {{103}, {103}, {103}})},
                               kConfigs, {});
  EXPECT_EQ(decision.position, 0u);
  EXPECT_EQ(decision.why, "tie within 0.5 % of 1 other: first in order (noise 0.0 %)");
}

TEST(Final, a_clock_that_jumps_between_rounds_does_not_decide) {
  // Most of candidate 0's samples fell into the quick clock: its pooled median is the better one, round by round it is
  // 3 % slower.
  const auto decision = decide({finalist(0, 1, {{103, 103, 103}, {103, 103, 103}, {124}}),
                                finalist(1, 1, {{100}, {100, 100}, {120, 120, 120, 120}})},
                               kConfigs, {});
  EXPECT_EQ(decision.position, 1u);
}

TEST(Final, noise_makes_equal_but_only_up_to_a_limit) {
  const std::vector<std::vector<double>> even{{100}, {100}, {100}, {100}, {100}};
  const auto slower = [&](double by) {
    return finalist(0, 1, {{100 * (1 + by)}, {100 * (1 + by)}, {100 * (1 + by)}, {80}, {120}});
  };
  EXPECT_EQ(decide({slower(0.013), finalist(1, 1, even)}, kConfigs, {}).position, 0u);
  EXPECT_EQ(decide({slower(0.03), finalist(1, 1, even)}, kConfigs, {}).position, 1u);
}

TEST(Final, rounds_without_a_usable_sample_are_left_out) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto table = standings({finalist(0, 1, {{nan}, {110}, {0}}), finalist(1, 1, {{100}, {100}, {-1}})});
  EXPECT_NEAR(table[0].slower, 0.1, 1e-12);
  EXPECT_EQ(table[1].slower, 0);
}

TEST(Final, without_rounds_the_first_timing_decides) {
  EXPECT_EQ(decide({finalist(0, 105, {}), finalist(1, 100, {})}, kConfigs, {}).position, 1u);
  EXPECT_TRUE(decide({finalist(2, 105, {})}, kConfigs, {}).why.empty());
}

}  // namespace
}  // namespace strop::tuner
