// Storage types to and from double, and the seeded contents of inputs.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "tuner/check.h"

namespace strop::tuner {
namespace {

template <class T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <class T>
void save(T value, std::byte* to) {
  std::memcpy(to, &value, sizeof value);
}

// A binary floating-point format of 16 bits: sign, `exponent_bits`, the rest mantissa. bf16 has 8 exponent bits, fp16 has 5.
struct Half {
  int exponent_bits;
  int mantissa_bits() const { return 15 - exponent_bits; }
  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
};
constexpr Half kBf16{8};
constexpr Half kFp16{5};

double decode_half(Half format, std::uint16_t bits) {
  const int mantissa_bits = format.mantissa_bits();
  const int exponent = (bits & 0x7fff) >> mantissa_bits;
  const int mantissa = bits & ((1 << mantissa_bits) - 1);
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == (1 << format.exponent_bits) - 1)
    return mantissa != 0 ? std::numeric_limits<double>::quiet_NaN() : sign * std::numeric_limits<double>::infinity();
  if (exponent == 0) return sign * std::ldexp(mantissa, 1 - format.bias() - mantissa_bits);
  return sign * std::ldexp((1 << mantissa_bits) + mantissa, exponent - format.bias() - mantissa_bits);
}

// Values that are normal in the format: the mantissa is cut by integer arithmetic, ties to even; a carry moves into the exponent as it
// should. Zero: not one of those.
std::uint16_t encode_normal(Half format, std::uint64_t bits) {
  const int cut = 52 - format.mantissa_bits();
  const int exponent = static_cast<int>(bits >> 52 & 0x7ff) - 1023 + format.bias();
  if (exponent < 1 || exponent >= (1 << format.exponent_bits) - 1) return 0;
  const std::uint64_t mantissa = bits & 0xf'ffff'ffff'ffffU;
  const std::uint64_t rounded = (mantissa + (std::uint64_t{1} << (cut - 1)) - 1 + (mantissa >> cut & 1)) >> cut;
  const auto magnitude = (static_cast<std::uint64_t>(exponent) << format.mantissa_bits()) + rounded;
  return static_cast<std::uint16_t>((bits >> 63 << 15) | magnitude);
}

std::uint16_t encode_half(Half format, double value) {
  if (const auto bits = encode_normal(format, std::bit_cast<std::uint64_t>(value)); bits != 0) return bits;
  const int mantissa_bits = format.mantissa_bits();
  const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
  const auto infinity = static_cast<std::uint16_t>(((1 << format.exponent_bits) - 1) << mantissa_bits);
  if (std::isnan(value)) return static_cast<std::uint16_t>(sign | infinity | 1 << (mantissa_bits - 1));
  const double magnitude = std::fabs(value);
  if (magnitude >= 1) return sign | infinity;  // normal values are done: this one overflows
  // Subnormal: whole steps of the smallest one; nearbyint's default mode is ties to even, and the first normal is the next step.
  return static_cast<std::uint16_t>(sign | static_cast<std::uint16_t>(std::nearbyint(std::ldexp(magnitude, format.bias() - 1 + mantissa_bits))));
}

// splitmix64 (Steele, Lea, Flood 2014): a counter becomes a random word, so that element i never depends on how the work is divided.
std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

// The sum of eight 16-bit uniforms, centred and scaled to variance 1: normal enough for inputs, integers until the last step and so
// the same on every machine, which a logarithm would not be.
double normal(std::uint64_t counter) {
  std::int64_t sum = 0;
  for (const std::uint64_t word : {mix(2 * counter), mix(2 * counter + 1)})
    for (int shift = 0; shift < 64; shift += 16) sum += static_cast<std::int64_t>(word >> shift & 0xffff);
  constexpr double kMean = 8 * 65535 / 2.0;
  constexpr double kDeviation = 53509.8;  // sqrt(8 / 12) * 65536
  return (static_cast<double>(sum) - kMean) / kDeviation;
}

double uniform(std::uint64_t counter) { return static_cast<double>(mix(counter) >> 11) * 0x1p-52 - 1; }

double fill_value(const TensorSpec& spec, std::uint64_t seed, std::int64_t i) {
  const std::uint64_t counter = mix(seed) + static_cast<std::uint64_t>(i);
  switch (spec.fill) {
    case Fill::normal: return spec.scale * normal(counter);
    case Fill::uniform: return spec.scale * uniform(counter);
    case Fill::iota: return spec.scale * static_cast<double>(i);
    case Fill::zeros: return 0;
  }
  return 0;
}

}  // namespace

double decode(DType type, const std::byte* element) {
  switch (type) {
    case DType::fp32: return static_cast<double>(load<float>(element));
    case DType::bf16: return static_cast<double>(std::bit_cast<float>(std::uint32_t{load<std::uint16_t>(element)} << 16));
    case DType::fp16: return decode_half(kFp16, load<std::uint16_t>(element));
    case DType::int32: return load<std::int32_t>(element);
    case DType::int64: return static_cast<double>(load<std::int64_t>(element));
  }
  return 0;
}

void encode(DType type, double value, std::byte* element) {
  switch (type) {
    case DType::fp32: return save(static_cast<float>(value), element);
    case DType::bf16: return save(encode_half(kBf16, value), element);
    case DType::fp16: return save(encode_half(kFp16, value), element);
    case DType::int32: return save(static_cast<std::int32_t>(value), element);
    case DType::int64: return save(static_cast<std::int64_t>(value), element);
  }
}

std::vector<std::byte> make_input(const TensorSpec& spec, std::uint64_t seed) {
  const std::size_t size = size_of(spec.type);
  std::vector<std::byte> bytes(static_cast<std::size_t>(spec.elements) * size);
  for (std::int64_t i = 0; i < spec.elements; ++i)
    encode(spec.type, fill_value(spec, seed, i), bytes.data() + static_cast<std::size_t>(i) * size);
  return bytes;
}

std::vector<double> decode_all(DType type, std::span<const std::byte> bytes) {
  const std::size_t size = size_of(type);
  std::vector<double> values(bytes.size() / size);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = decode(type, bytes.data() + i * size);
  return values;
}

}  // namespace strop::tuner
