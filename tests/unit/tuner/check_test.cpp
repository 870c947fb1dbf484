#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "tuner/check.h"

namespace strop::tuner {
namespace {

TensorSpec output(DType type, std::int64_t elements) {
  TensorSpec spec;
  spec.name = "y";
  spec.type = type;
  spec.elements = elements;
  spec.role = Role::output;
  spec.tolerance = Tolerance::storage(type);
  return spec;
}

std::vector<std::byte> stored(DType type, const std::vector<double>& values) {
  std::vector<std::byte> bytes(values.size() * size_of(type));
  for (std::size_t i = 0; i < values.size(); ++i) encode(type, values[i], bytes.data() + i * size_of(type));
  return bytes;
}

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(Compare, OneRoundingOfTheStorageTypeIsRight) {
  const std::vector<double> reference{1.00390625 / 1.001, -3.14159, 1e-8, 0};
  EXPECT_FALSE(compare(output(DType::bf16, 4), stored(DType::bf16, reference), reference));
}

TEST(Compare, NamesTensorElementValuesAndCount) {
  const std::vector<double> reference{1, 2, 3, 4};
  const auto wrong = compare(output(DType::fp32, 4), stored(DType::fp32, {1, 2.5, 3, 5}), reference);
  ASSERT_TRUE(wrong);
  EXPECT_EQ(*wrong, "y[1] is 2.5, expected 2; 2 of 4 elements are wrong");
}

TEST(Compare, NanAndInfinityHaveToBeWhereTheReferenceHasThem) {
  const auto spec = output(DType::fp32, 2);
  EXPECT_FALSE(compare(spec, stored(DType::fp32, {kNan, kInfinity}), {kNan, kInfinity}));
  EXPECT_TRUE(compare(spec, stored(DType::fp32, {0, kInfinity}), {kNan, kInfinity}));
  EXPECT_TRUE(compare(spec, stored(DType::fp32, {kNan, -kInfinity}), {kNan, kInfinity}));
  EXPECT_TRUE(compare(spec, stored(DType::fp32, {1, kNan}), {1, 2}));
}

TEST(Compare, WhatOverflowsTheStorageTypeIsInfiniteInTheReferenceToo) {
  EXPECT_FALSE(compare(output(DType::fp16, 1), stored(DType::fp16, {kInfinity}), {70000}));
}

TEST(Compare, ElementsThatMustNotBeTouchedMustStillHoldThePoison) {
  std::vector<std::byte> bytes(8, std::byte{kPoisonByte});
  encode(DType::fp32, 1, bytes.data());
  EXPECT_FALSE(compare(output(DType::fp32, 2), bytes, {1, untouched()}));
  encode(DType::fp32, 0, bytes.data() + 4);
  EXPECT_TRUE(compare(output(DType::fp32, 2), bytes, {1, untouched()}));
}

TEST(Compare, AnUnwrittenOutputIsWrong) {
  const std::vector<std::byte> poison(8, std::byte{kPoisonByte});
  EXPECT_TRUE(compare(output(DType::fp32, 2), poison, {1, 2}));
}

TEST(Compare, ASmallErrorEverywhereShowsInTheRootMeanSquare) {
  auto spec = output(DType::fp32, 3);
  spec.tolerance = {1, 0, 1e-3};
  EXPECT_FALSE(compare(spec, stored(DType::fp32, {1.0005, 2.001, 3.0015}), {1, 2, 3}));
  EXPECT_TRUE(compare(spec, stored(DType::fp32, {1.002, 2.004, 3.006}), {1, 2, 3}));
}

TEST(Guards, AreIntactOrNamed) {
  std::vector<std::byte> zone(64, std::byte{kGuardByte});
  EXPECT_FALSE(check_guard(zone, "before y"));
  zone[10] = std::byte{0};
  EXPECT_EQ(check_guard(zone, "before y"), "the guard zone before y was written to, 10 bytes into its 64");
}

}  // namespace
}  // namespace strop::tuner
