// Conversions over every 16-bit pattern and many fp32 values, and the approximate functions. References are made in
// double, by other means than the twins under test.

#include <cmath>
#include <limits>
#include <string>

#include "tests/gpu/wrapper_cases.h"

namespace strop::conformance {
namespace {

using Words = std::vector<std::uint32_t>;

struct Format {
  int mantissa;  // stored bits
  int least;     // exponent of the smallest normal
  int bias;
  double most;  // largest finite
  std::uint32_t infinity;
};
constexpr Format kBfloat{7, -126, 127, 3.3895313892515355e38, 0x7f80};
constexpr Format kHalf{10, -14, 15, 65504.0, 0x7c00};

// Round to nearest even by arithmetic: the value in units of its last place, rounded by nearbyint.
std::uint32_t narrow(float v, const Format& f) {
  if (std::isnan(v)) return 0x7fff;
  const std::uint32_t sign = std::signbit(v) ? 0x8000u : 0u;
  const double magnitude = std::fabs(static_cast<double>(v));
  if (magnitude == 0) return sign;
  if (std::isinf(magnitude)) return sign | f.infinity;
  const int exponent = std::max(std::ilogb(magnitude), f.least);
  const double units = std::nearbyint(std::ldexp(magnitude, f.mantissa - exponent));
  if (std::ldexp(units, exponent - f.mantissa) > f.most) return sign | f.infinity;
  // A carry out of the mantissa runs into the exponent by itself.
  const double hidden = std::ldexp(1.0, f.mantissa);
  const std::uint32_t base =
      exponent == f.least && units < hidden ? 0u : static_cast<std::uint32_t>(exponent + f.bias - 1) << f.mantissa;
  return sign | (base + static_cast<std::uint32_t>(units));
}

std::uint32_t widen(std::uint32_t bits, const Format& f) {
  const std::uint32_t magnitude = bits & 0x7fffu;
  const bool half = f.mantissa == kHalf.mantissa;
  if (magnitude > f.infinity) return half ? 0x7fffffffu : bits << 16;
  const double sign = bits & 0x8000u ? -1.0 : 1.0;
  if (magnitude == f.infinity) return bits_of(static_cast<float>(sign * std::numeric_limits<double>::infinity()));
  const int exponent = static_cast<int>(magnitude >> f.mantissa);
  const double mantissa = magnitude & ((1u << f.mantissa) - 1u);
  const double units = exponent == 0 ? mantissa : mantissa + std::ldexp(1.0, f.mantissa);
  const int scale = (exponent == 0 ? 1 : exponent) - f.bias - f.mantissa;
  return bits_of(static_cast<float>(sign * std::ldexp(units, scale)));
}

// Every exponent and sign with mantissas around the rounding points of both formats, and random ones.
Words narrow_inputs() {
  Words words;
  const Words random = random_words(1u << 16, 0x7fffffff, 18);
  for (std::size_t i = 0; i < random.size(); ++i) words.push_back(random[i] << 1 | (i & 1));
  for (std::uint32_t top = 0; top < 512; ++top) {
    for (const std::uint32_t mantissa :
         {0x0u, 0x1u, 0xfffu, 0x1000u, 0x1001u, 0x2fffu, 0x3000u, 0x7fffu, 0x8000u, 0x8001u, 0x17fffu, 0x18000u,
          0x3fffffu, 0x400000u, 0x7fefffu, 0x7ff000u, 0x7f7fffu, 0x7f8000u, 0x7fffffu})
      words.push_back(top << 23 | mantissa);
  }
  return words;
}

WrapperCase narrow_case() {
  WrapperCase c{.name = "fp32_to_bf16_and_fp16",
                .file = "wrappers/convert.cuh",
                .function = "narrow",
                .params = "ConvertParams",
                .config = {{"threads", 256}}};
  c.in = narrow_inputs();
  c.count = static_cast<std::uint32_t>(c.in.size());
  c.grid.x = (c.count + 255) / 256;
  for (const std::uint32_t word : c.in) {
    const float v = float_of(word);
    const std::uint32_t b = narrow(v, kBfloat), h = narrow(v, kHalf);
    c.expected.push_back(b | h << 16);
    c.expected.push_back(b | narrow(-v, kBfloat) << 16);
    c.expected.push_back(h | narrow(-v, kHalf) << 16);
  }
  return c;
}

WrapperCase widen_case() {
  WrapperCase c{.name = "all_bf16_and_fp16_to_fp32",
                .file = "wrappers/convert.cuh",
                .function = "widen",
                .params = "ConvertParams",
                .config = {{"threads", 256}},
                .grid = {256, 1, 1},
                .count = 1u << 16};
  for (std::uint32_t bits = 0; bits < c.count; ++bits) {
    c.in.push_back(bits);
    const std::uint32_t other = bits ^ 0x8000u;
    for (const std::uint32_t word : {widen(bits, kBfloat), widen(bits, kHalf), widen(bits, kBfloat),
                                     widen(other, kBfloat), widen(bits, kHalf), widen(other, kHalf)})
      c.expected.push_back(word);
  }
  return c;
}

double sigmoid(double v) { return 1.0 / (1.0 + std::exp(-v)); }

// `bound` is what NVIDIA states for the instruction, the composed functions add the rounding of their arguments:
// v*log2(e) at |v| = 80 is off by 2^-18 of exp2's result.
WrapperCase approximate_case(const char* name, int function, double from, double to, double (*reference)(double),
                             double relative, double absolute) {
  constexpr std::uint32_t kCount = 4096;
  WrapperCase c{.name = name,
                .file = "wrappers/approximate.cuh",
                .function = "approximate",
                .params = "ApproximateParams",
                .config = {{"threads", 256}, {"function", function}},
                .grid = {kCount / 256, 1, 1},
                .count = kCount};
  c.relative = relative;
  c.absolute = absolute;
  for (std::uint32_t i = 0; i < kCount; ++i) {
    const float v = static_cast<float>(from + (to - from) * (i + 0.5) / kCount);
    c.in.push_back(bits_of(v));
    c.expected.push_back(bits_of(static_cast<float>(reference(v))));
  }
  return c;
}

}  // namespace

std::vector<WrapperCase> number_cases() {
  const double p11 = std::ldexp(1.0, -11), p12 = p11 / 2, p17 = std::ldexp(1.0, -17), p21 = std::ldexp(1.0, -21);
  return {
      narrow_case(),
      widen_case(),
      approximate_case(
          "exp2_approx", 0, -125, 127, [](double v) { return std::exp2(v); }, p21, 0),
      approximate_case(
          "rcp_approx", 1, 1e-3, 1e3, [](double v) { return 1 / v; }, p21, 0),
      approximate_case(
          "tanh_approx", 2, -9, 9, [](double v) { return std::tanh(v); }, 1.1 * p11, 0),
      approximate_case("sigmoid_by_exp2_and_rcp", 3, -80, 80, sigmoid, p17, 0),
      approximate_case("sigmoid_by_tanh", 4, -20, 20, sigmoid, 0, 1.1 * p12),
      approximate_case(
          "silu_slope_by_exp2_and_rcp", 5, -30, 30, [](double v) { return sigmoid(v) * (1 + v * (1 - sigmoid(v))); }, 0,
          p17),
  };
}

}  // namespace strop::conformance
