#include <cmath>
#include <cstring>
#include <limits>

#include <gtest/gtest.h>

#include "tuner/check.h"

namespace strop::tuner {
namespace {

std::uint16_t encoded(DType type, double value) {
  std::uint16_t bits = 0;
  encode(type, value, reinterpret_cast<std::byte*>(&bits));
  return bits;
}

double decoded(DType type, std::uint16_t bits) { return decode(type, reinterpret_cast<const std::byte*>(&bits)); }

class HalfTypes : public testing::TestWithParam<DType> {};

TEST_P(HalfTypes, EveryPatternReadsBackToItself) {
  for (unsigned bits = 0; bits < 65536; ++bits) {
    const auto pattern = static_cast<std::uint16_t>(bits);
    const double value = decoded(GetParam(), pattern);
    if (std::isnan(value)) EXPECT_TRUE(std::isnan(decoded(GetParam(), encoded(GetParam(), value))));
    else ASSERT_EQ(encoded(GetParam(), value), pattern);
  }
}

TEST_P(HalfTypes, ValuesHalfwayBetweenNeighboursGoToTheEvenOne) {
  const unsigned infinity = GetParam() == DType::bf16 ? 0x7f80 : 0x7c00;
  for (unsigned bits = 0; bits + 1 < infinity; ++bits) {
    const auto low = static_cast<std::uint16_t>(bits);
    const auto high = static_cast<std::uint16_t>(bits + 1);
    const double middle = (decoded(GetParam(), low) + decoded(GetParam(), high)) / 2;
    ASSERT_EQ(encoded(GetParam(), middle), bits % 2 == 0 ? low : high) << bits;
  }
}

TEST_P(HalfTypes, WhatIsTooLargeBecomesInfinity) {
  EXPECT_TRUE(std::isinf(decoded(GetParam(), encoded(GetParam(), 1e300))));
  EXPECT_EQ(decoded(GetParam(), encoded(GetParam(), -std::numeric_limits<double>::infinity())), -std::numeric_limits<double>::infinity());
}

INSTANTIATE_TEST_SUITE_P(Storage, HalfTypes, testing::Values(DType::bf16, DType::fp16),
                         [](const auto& tested) { return std::string(name(tested.param)); });

TEST(Inputs, AreTheSameForASeedAndOrdinaryNumbers) {
  TensorSpec spec;
  spec.elements = 100000;
  const auto first = make_input(spec, 1);
  EXPECT_EQ(first, make_input(spec, 1));
  EXPECT_NE(first, make_input(spec, 2));
  double sum = 0;
  double squares = 0;
  for (const double value : decode_all(spec.type, first)) {
    sum += value;
    squares += value * value;
  }
  EXPECT_NEAR(sum / 100000, 0, 0.02);
  EXPECT_NEAR(squares / 100000, 1, 0.02);
}

TEST(Inputs, UniformStaysInItsRangeAndIotaCounts) {
  TensorSpec spec;
  spec.elements = 1000;
  spec.scale = 3;
  spec.fill = Fill::uniform;
  for (const double value : decode_all(spec.type, make_input(spec, 1))) {
    EXPECT_GE(value, -3);
    EXPECT_LT(value, 3.0001);
  }
  spec.scale = 1;
  spec.fill = Fill::iota;
  spec.type = DType::int32;
  EXPECT_EQ(decode_all(spec.type, make_input(spec, 1)).at(999), 999);
}

}  // namespace
}  // namespace strop::tuner
