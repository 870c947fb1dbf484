// The numbers a launch passes for division, by the formula that the device uses (templates/common/divide.cuh).

#include "src/ops/divisor.h"

#include <gtest/gtest.h>

#include <initializer_list>

namespace strop::ops {
namespace {

std::uint32_t quotient(std::uint32_t n, const Divisor& by) {
  return (static_cast<std::uint32_t>(static_cast<std::uint64_t>(by.multiplier) * n >> 32) + n) >> by.shift;
}

TEST(Divisor, is_exact_around_every_multiple_and_at_the_ends) {
  constexpr std::uint32_t kMost = (1u << 31) - 1;
  const auto check = [](std::uint32_t n, const Divisor& by) {
    ASSERT_EQ(quotient(n, by), n / by.value) << n << " / " << by.value;
  };
  for (std::uint32_t value = 1; value < 70000; value += value < 3000 ? 1 : 97) {
    const auto by = divisor(value);
    for (std::uint32_t step : {0u, 1u, 2u, 3u, 7u, 1000u, kMost / value / 2, kMost / value})
      for (std::uint32_t near : {0u, 1u, value - 1})
        if (const auto n = std::uint64_t{step} * value + near; n <= kMost) check(static_cast<std::uint32_t>(n), by);
    check(kMost, by);
  }
}

TEST(Divisor, powers_of_two_and_their_neighbours) {
  for (int bits = 0; bits <= 31; ++bits)
    for (std::int64_t value : {(std::int64_t{1} << bits) - 1, std::int64_t{1} << bits, (std::int64_t{1} << bits) + 1}) {
      if (value < 1 || value > (std::int64_t{1} << 31)) continue;
      for (std::uint32_t n : {0u, 1u, 12345u, 2147483646u, 2147483647u}) ASSERT_EQ(quotient(n, divisor(value)), n / value) << n << " / " << value;
    }
}

TEST(Divisor, of_an_empty_grid_divides_by_one) { EXPECT_EQ(divisor(0).value, 1u); }

}  // namespace
}  // namespace strop::ops
