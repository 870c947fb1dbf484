#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "tuner/check.h"

namespace strop::tuner {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::uint64_t bits(DType type, double value) {
  std::array<std::byte, 8> element{};
  encode(type, value, element.data());
  std::uint64_t result = 0;
  std::memcpy(&result, element.data(), size_of(type));
  return result;
}

double value_of(DType type, std::uint64_t bits) {
  std::array<std::byte, 8> element{};
  std::memcpy(element.data(), &bits, sizeof bits);
  return decode(type, element.data());
}

TensorSpec tensor(DType type, Fill fill, std::int64_t elements, double scale = 1) {
  TensorSpec spec;
  spec.name = "x";
  spec.type = type;
  spec.fill = fill;
  spec.elements = elements;
  spec.scale = scale;
  return spec;
}

std::uint64_t sum_of(const std::vector<std::byte>& bytes) {  // FNV-1a
  std::uint64_t sum = 0xcbf29ce484222325U;
  for (const auto b : bytes) sum = (sum ^ static_cast<std::uint64_t>(b)) * 0x100000001b3U;
  return sum;
}

TEST(Storage, every_16_bit_pattern_survives_decoding_and_encoding) {
  for (const DType type : {DType::bf16, DType::fp16}) {
    for (std::uint64_t pattern = 0; pattern < 65536; ++pattern) {
      const double value = value_of(type, pattern);
      if (std::isnan(value))
        EXPECT_TRUE(std::isnan(value_of(type, bits(type, value))));
      else
        ASSERT_EQ(bits(type, value), pattern) << name(type) << " " << value;
    }
  }
}

TEST(Storage, halfway_between_neighbours_goes_to_the_even_one_and_beside_it_to_the_nearer) {
  for (const DType type : {DType::bf16, DType::fp16}) {
    const std::uint64_t infinity = type == DType::bf16 ? 0x7f80 : 0x7c00;
    for (std::uint64_t pattern = 0; pattern + 1 < infinity; ++pattern) {
      const double low = value_of(type, pattern);
      const double high = value_of(type, pattern + 1);
      const double middle = 0.5 * (low + high);
      ASSERT_EQ(bits(type, middle), pattern % 2 == 0 ? pattern : pattern + 1) << name(type) << " " << middle;
      ASSERT_EQ(bits(type, std::nextafter(middle, 0)), pattern);
      ASSERT_EQ(bits(type, std::nextafter(middle, kInfinity)), pattern + 1);
      ASSERT_EQ(bits(type, -middle), 0x8000 | (pattern % 2 == 0 ? pattern : pattern + 1));
    }
  }
}

TEST(Storage, overflow_is_infinity_from_the_halfway_point_on) {
  EXPECT_EQ(bits(DType::fp16, 65504), 0x7bffU);
  EXPECT_EQ(bits(DType::fp16, std::nextafter(65520.0, 0)), 0x7bffU);
  EXPECT_EQ(bits(DType::fp16, 65520), 0x7c00U);
  EXPECT_EQ(bits(DType::fp16, -1e300), 0xfc00U);
  EXPECT_EQ(bits(DType::bf16, 1e39), 0x7f80U);
  EXPECT_EQ(bits(DType::fp32, 1e39), 0x7f800000U);
}

TEST(Storage, special_values_stay_what_they_are) {
  for (const DType type : {DType::bf16, DType::fp16, DType::fp32}) {
    EXPECT_TRUE(std::isnan(value_of(type, bits(type, kNaN))));
    EXPECT_EQ(value_of(type, bits(type, -kInfinity)), -kInfinity);
    EXPECT_TRUE(std::signbit(value_of(type, bits(type, -0.0))));
  }
  EXPECT_EQ(value_of(DType::fp16, 1), 0x1p-24);
  EXPECT_EQ(value_of(DType::bf16, 1), 0x1p-133);
  EXPECT_EQ(bits(DType::fp16, 0x1p-25), 0U);  // halfway to the smallest: the even one is 0
  EXPECT_EQ(bits(DType::fp16, std::nextafter(0x1p-25, 1)), 1U);
  EXPECT_EQ(bits(DType::bf16, std::numeric_limits<double>::denorm_min()), 0U);
}

TEST(Storage, integers_round_to_even_and_stop_at_their_ends) {
  EXPECT_EQ(value_of(DType::int32, bits(DType::int32, 2.5)), 2);
  EXPECT_EQ(value_of(DType::int32, bits(DType::int32, -3.5)), -4);
  EXPECT_EQ(value_of(DType::int64, bits(DType::int64, 1.5)), 2);
  EXPECT_EQ(bits(DType::int32, 1e20), 0x7fffffffU);
  EXPECT_EQ(bits(DType::int32, 2147483647.5), 0x7fffffffU);
  EXPECT_EQ(bits(DType::int32, -1e20), 0x80000000U);
  EXPECT_EQ(bits(DType::int64, 9.3e18), 0x7fffffffffffffffU);
  EXPECT_EQ(bits(DType::int64, -kInfinity), 0x8000000000000000U);
  EXPECT_EQ(bits(DType::int32, kNaN), 0U);
}

// The sums are of contents made by a second implementation, in another language.
TEST(Input, is_the_same_on_every_machine) {
  EXPECT_EQ(sum_of(make_input(tensor(DType::fp32, Fill::normal, 1000), 1)), 15659357976879473853U);
  EXPECT_EQ(sum_of(make_input(tensor(DType::bf16, Fill::normal, 1000, 0.5), 2)), 4144933099665598981U);
  EXPECT_EQ(sum_of(make_input(tensor(DType::fp16, Fill::uniform, 1000, 3), 3)), 4561675111115319413U);
}

TEST(Input, its_beginning_does_not_depend_on_its_length_and_its_values_do_on_the_seed) {
  const auto few = make_input(tensor(DType::bf16, Fill::normal, 100), 5);
  const auto many = make_input(tensor(DType::bf16, Fill::normal, 5000), 5);
  EXPECT_TRUE(std::equal(few.begin(), few.end(), many.begin()));
  EXPECT_NE(few, make_input(tensor(DType::bf16, Fill::normal, 100), 6));
}

TEST(Input, normal_has_its_moments_and_uniform_its_range) {
  const auto normal = decode_all(DType::fp32, make_input(tensor(DType::fp32, Fill::normal, 200000, 2), 9));
  double sum = 0, squares = 0, fourths = 0;
  for (const double x : normal) sum += x, squares += x * x, fourths += x * x * x * x;
  const double n = static_cast<double>(normal.size());
  EXPECT_NEAR(sum / n, 0, 0.02);
  EXPECT_NEAR(squares / n, 4, 0.05);
  EXPECT_NEAR(fourths / n / 16, 2.85, 0.1);  // eight uniforms: a kurtosis of 3 - 6 / (5 * 8)
  const auto uniform = decode_all(DType::fp32, make_input(tensor(DType::fp32, Fill::uniform, 200000, 3), 9));
  const auto [low, high] = std::minmax_element(uniform.begin(), uniform.end());
  EXPECT_GE(*low, -3);
  EXPECT_LT(*low, -2.999);
  EXPECT_LE(*high, 3);
  EXPECT_GT(*high, 2.999);
}

TEST(Input, iota_counts_and_zeros_are_zero_in_every_type) {
  for (const DType type : {DType::fp32, DType::fp16, DType::bf16, DType::int32, DType::int64}) {
    const auto counted = decode_all(type, make_input(tensor(type, Fill::iota, 100), 1));
    for (int i = 0; i < 100; ++i) EXPECT_EQ(counted[static_cast<std::size_t>(i)], i);
    for (const double zero : decode_all(type, make_input(tensor(type, Fill::zeros, 100), 1))) EXPECT_EQ(zero, 0);
  }
  EXPECT_TRUE(make_input(tensor(DType::fp32, Fill::normal, 0), 1).empty());
}

}  // namespace
}  // namespace strop::tuner
