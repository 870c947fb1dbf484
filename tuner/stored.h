#pragma once

// Elements as they lie in memory, to and from double, a type at a time: loops over a tensor choose the type once, not
// at every element. Bits are moved by integer arithmetic, so that every machine gives the same. Rounding is to nearest,
// ties to even; what is too large becomes infinity, in integers the nearest one there is, and NaN becomes 0 there.
// Private to tuner/.

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "strop/dtype.h"

namespace strop::tuner {

// A floating-point format of 16 bits: sign, exponent, mantissa.
template <int exponent_bits>
struct Half {
  static constexpr int kMantissaBits = 15 - exponent_bits;
  static constexpr int kBias = (1 << (exponent_bits - 1)) - 1;
  static constexpr int kSpecial = (1 << exponent_bits) - 1;  // the exponent of infinities and NaNs
  static constexpr std::uint16_t kInfinity = kSpecial << kMantissaBits;

  static double decode(std::uint16_t bits) {
    const std::uint64_t sign = static_cast<std::uint64_t>(bits & 0x8000) << 48;
    const int exponent = (bits & 0x7fff) >> kMantissaBits;
    const int mantissa = bits & ((1 << kMantissaBits) - 1);
    if (exponent == 0) {
      const double magnitude = mantissa * std::bit_cast<double>(std::uint64_t{1024 - kBias - kMantissaBits} << 52);
      return std::bit_cast<double>(sign | std::bit_cast<std::uint64_t>(magnitude));
    }
    const int widened = exponent == kSpecial ? 0x7ff : exponent - kBias + 1023;
    return std::bit_cast<double>(sign | static_cast<std::uint64_t>(widened) << 52 |
                                 static_cast<std::uint64_t>(mantissa) << (52 - kMantissaBits));
  }

  static std::uint16_t encode(double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    const auto sign = static_cast<std::uint16_t>(bits >> 63 << 15);
    const int exponent = static_cast<int>(bits >> 52 & 0x7ff) - 1023 + kBias;
    const std::uint64_t mantissa = bits & 0xf'ffff'ffff'ffffU;
    if (std::isnan(value)) return static_cast<std::uint16_t>(sign | kInfinity | 1 << (kMantissaBits - 1));
    if (exponent >= kSpecial) return sign | kInfinity;
    // Below the smallest normal: whole steps of the smallest subnormal; the first normal is the next step.
    if (exponent < 1)
      return static_cast<std::uint16_t>(sign | round_even(std::ldexp(std::fabs(value), kBias - 1 + kMantissaBits)));
    constexpr int kCut = 52 - kMantissaBits;
    const std::uint64_t rounded = (mantissa + (std::uint64_t{1} << (kCut - 1)) - 1 + (mantissa >> kCut & 1)) >> kCut;
    // A carry out of the mantissa moves into the exponent, up to infinity, as it should.
    return static_cast<std::uint16_t>(sign | ((static_cast<std::uint64_t>(exponent) << kMantissaBits) + rounded));
  }

 private:
  static std::uint16_t round_even(double steps) { return static_cast<std::uint16_t>(std::nearbyint(steps)); }
};

template <class T>
T round_to_integer(double value) {
  // 2^31 or 2^63: the first value too large, exact as a double, which the largest int64 is not.
  constexpr double kEnd = -static_cast<double>(std::numeric_limits<T>::min());
  if (std::isnan(value)) return 0;
  const double rounded = std::nearbyint(value);
  if (rounded >= kEnd) return std::numeric_limits<T>::max();
  if (rounded <= -kEnd) return std::numeric_limits<T>::min();
  return static_cast<T>(rounded);
}

template <DType type>
struct Stored {
  static constexpr std::size_t kSize = size_of(type);
  static constexpr bool kFloat = type != DType::int32 && type != DType::int64;
  // Magnitudes above it are not finite in storage.
  static constexpr double kLargest = type == DType::fp16   ? 65504.0
                                     : type == DType::bf16 ? 0x1.fep127
                                     : type == DType::fp32 ? 0x1.fffffep127
                                                           : std::numeric_limits<double>::max();

  static double load(const std::byte* element) {
    const auto bits = bits_of(element);
    if constexpr (type == DType::fp32 || type == DType::bf16) {
      const auto wide = type == DType::bf16 ? static_cast<std::uint32_t>(bits) << 16 : static_cast<std::uint32_t>(bits);
      return static_cast<double>(std::bit_cast<float>(wide));
    } else if constexpr (type == DType::fp16) {
      return Half<5>::decode(static_cast<std::uint16_t>(bits));
    } else {
      return static_cast<double>(static_cast<std::make_signed_t<std::remove_const_t<decltype(bits)>>>(bits));
    }
  }

  static void save(double value, std::byte* element) {
    if constexpr (type == DType::fp32)
      put(static_cast<float>(value), element);
    else if constexpr (type == DType::bf16)
      put(Half<8>::encode(value), element);
    else if constexpr (type == DType::fp16)
      put(Half<5>::encode(value), element);
    else if constexpr (type == DType::int32)
      put(round_to_integer<std::int32_t>(value), element);
    else
      put(round_to_integer<std::int64_t>(value), element);
  }

  // Every bit is set, as in memory filled with kPoisonByte.
  static bool all_ones(const std::byte* element) {
    const auto bits = bits_of(element);
    return static_cast<decltype(bits)>(~bits) == 0;
  }

 private:
  static auto bits_of(const std::byte* element) {
    std::conditional_t<kSize == 2, std::uint16_t, std::conditional_t<kSize == 4, std::uint32_t, std::uint64_t>> bits;
    std::memcpy(&bits, element, kSize);
    return bits;
  }
  template <class T>
  static void put(T value, std::byte* element) {
    std::memcpy(element, &value, sizeof value);
  }
};

// Calls `body` with Stored<type>.
template <class Body>
auto with_stored(DType type, const Body& body) {
  switch (type) {
    case DType::fp32:
      return body(Stored<DType::fp32>{});
    case DType::fp16:
      return body(Stored<DType::fp16>{});
    case DType::bf16:
      return body(Stored<DType::bf16>{});
    case DType::int32:
      return body(Stored<DType::int32>{});
    case DType::int64:
      break;
  }
  return body(Stored<DType::int64>{});
}

}  // namespace strop::tuner
