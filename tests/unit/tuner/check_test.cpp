#include "tuner/check.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace strop::tuner {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

TensorSpec output(DType type) {
  TensorSpec spec;
  spec.name = "y";
  spec.type = type;
  spec.role = Role::output;
  spec.tolerance = Tolerance::storage(type);
  return spec;
}

std::vector<std::byte> stored(DType type, const std::vector<double>& values) {
  std::vector<std::byte> bytes(values.size() * size_of(type));
  for (std::size_t i = 0; i < values.size(); ++i) encode(type, values[i], bytes.data() + i * size_of(type));
  return bytes;
}

void poison(std::vector<std::byte>& bytes, DType type, std::size_t element) {
  for (std::size_t i = 0; i < size_of(type); ++i) bytes[element * size_of(type) + i] = std::byte{kPoisonByte};
}

std::string verdict(const TensorSpec& spec, const std::vector<double>& got, const std::vector<double>& reference) {
  return compare(spec, stored(spec.type, got), reference).value_or("right");
}

TEST(Compare, what_is_within_storage_rounding_is_right_in_every_type) {
  for (const DType type : {DType::fp32, DType::fp16, DType::bf16}) {
    EXPECT_EQ(verdict(output(type), {0.1, -3.7, 1000, 1e-9, 0}, {0.1, -3.7, 1000, 1e-9, 0}), "right") << name(type);
  }
  EXPECT_EQ(verdict(output(DType::int64), {1, -7}, {1, -7}), "right");
}

TEST(Compare, the_sentence_names_tensor_element_both_values_and_how_many) {
  EXPECT_EQ(verdict(output(DType::fp32), {1, 2, 3.5, 4, 6}, {1, 2, 3, 4, 5}),
            "y[2] is 3.5, expected 3; 2 of 5 elements are wrong");
}

TEST(Compare, one_wrong_element_is_found_wherever_it_is) {
  std::vector<double> reference(10000, 1.0);
  for (const std::size_t at : {0, 1, 4095, 4096, 8191, 9999}) {
    auto got = reference;
    got[at] = 1.1;
    const auto found = verdict(output(DType::bf16), got, reference);
    EXPECT_NE(found.find("y[" + std::to_string(at) + "] is "), std::string::npos) << found;
    EXPECT_NE(found.find("1 of 10000"), std::string::npos) << found;
  }
}

TEST(Compare, an_element_that_still_holds_the_poison_was_not_written) {
  for (const DType type : {DType::fp32, DType::fp16, DType::bf16}) {
    for (const double expected : {0.5, 0.0, kNaN, kInfinity}) {
      auto got = stored(type, {1, 1});
      poison(got, type, 1);
      const auto found = compare(output(type), got, {1, expected});
      ASSERT_TRUE(found) << expected;
      EXPECT_NE(found->find("y[1] was not written, expected "), std::string::npos) << *found;
    }
  }
}

TEST(Compare, an_untouched_element_must_still_hold_the_poison) {
  for (const DType type : {DType::fp32, DType::fp16, DType::bf16, DType::int32, DType::int64}) {
    auto got = stored(type, {1, 0, 1});
    EXPECT_EQ(compare(output(type), got, {1, untouched(), 1}).value_or("right"),
              "y[1] is 0, expected untouched; 1 of 3 elements are wrong");
    poison(got, type, 1);
    EXPECT_FALSE(compare(output(type), got, {1, untouched(), 1}));
  }
}

TEST(Compare, a_nan_that_is_not_the_poison_does_not_pass_for_a_gap) {
  EXPECT_NE(verdict(output(DType::fp32), {kNaN}, {untouched()}), "right");
}

TEST(Compare, nan_meets_nan_and_infinity_the_same_infinity_only) {
  const auto spec = output(DType::fp32);
  EXPECT_EQ(verdict(spec, {kNaN, kInfinity, -kInfinity}, {kNaN, kInfinity, -kInfinity}), "right");
  for (const auto& [got, expected] : std::vector<std::pair<double, double>>{{1, kNaN},
                                                                            {kNaN, 1},
                                                                            {1, kInfinity},
                                                                            {kInfinity, 1},
                                                                            {kInfinity, -kInfinity},
                                                                            {kNaN, kInfinity},
                                                                            {kInfinity, kNaN}})
    EXPECT_NE(verdict(spec, {got}, {expected}), "right") << got << " for " << expected;
}

TEST(Compare, a_reference_beyond_the_range_of_storage_is_infinity_there) {
  EXPECT_EQ(verdict(output(DType::fp16), {kInfinity}, {70000}), "right");
  EXPECT_NE(verdict(output(DType::fp16), {65504}, {1e6}), "right");
  EXPECT_EQ(verdict(output(DType::fp16), {65504}, {65510}), "right");
  EXPECT_EQ(verdict(output(DType::bf16), {-kInfinity}, {-1e39}), "right");
  EXPECT_EQ(verdict(output(DType::fp32), {kInfinity}, {1e39}), "right");
}

TEST(Compare, an_error_too_small_for_one_element_shows_in_the_root_mean_square) {
  auto spec = output(DType::fp32);
  spec.tolerance = {0, 0.02, 0};
  const std::vector<double> reference(1000, 2.0);
  std::vector<double> got(1000, 2.02);
  EXPECT_EQ(verdict(spec, got, reference), "right");
  spec.tolerance.rms = 0.005;
  EXPECT_EQ(verdict(spec, got, reference), "y: relative error 0.01 in the root mean square, 0.005 is allowed");
  got.assign(1000, 2.0);
  got[3] = 2.02;
  EXPECT_EQ(verdict(spec, got, reference), "right");
}

TEST(Compare, gaps_and_infinities_stay_out_of_the_root_mean_square) {
  auto spec = output(DType::fp32);
  spec.tolerance.rms = 1e-5;
  auto got = stored(DType::fp32, {1, 0, kInfinity});
  poison(got, DType::fp32, 1);
  EXPECT_FALSE(compare(spec, got, {1, untouched(), kInfinity}));
}

TEST(Compare, an_output_of_another_size_than_the_reference_is_wrong) {
  EXPECT_EQ(verdict(output(DType::fp32), {1, 2}, {1}), "y: the reference has 1 elements, the output 8 bytes");
  EXPECT_EQ(verdict(output(DType::fp32), {}, {}), "right");
}

TEST(Guard, an_intact_zone_is_silent_and_one_byte_is_enough_to_speak) {
  std::vector<std::byte> zone(kGuardBytes, std::byte{kGuardByte});
  EXPECT_FALSE(check_guard(zone, "before y"));
  EXPECT_FALSE(check_guard({}, "before y"));
  zone[17] = std::byte{0};
  zone[4095] = std::byte{1};
  EXPECT_EQ(check_guard(zone, "before y").value_or(""),
            "the guard zone before y was written to: 2 of its 4096 bytes, the first at 17");
}

}  // namespace
}  // namespace strop::tuner
