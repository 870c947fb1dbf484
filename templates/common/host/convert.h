#pragma once

// The twin of common/cuda/convert.cuh, in integer arithmetic: round to nearest even, NaN to the canonical NaN.

#include "common/host/words.h"
#include "common/scalars.cuh"

namespace strop {

inline u16 bfloat_of(float v) {
  const u32 bits = __float_as_uint(v);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return 0x7fff;
  return static_cast<u16>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}
inline u32 bfloat_pair_of(float low, float high) { return bfloat_of(low) | static_cast<u32>(bfloat_of(high)) << 16; }

inline u16 half_of(float v) {
  const u32 bits = __float_as_uint(v);
  const u32 sign = bits >> 16 & 0x8000u;
  const u32 magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return 0x7fff;
  if (magnitude >= 0x477ff000u) return static_cast<u16>(sign | 0x7c00u);  // 65520 and more round to infinity
  if (magnitude >= 0x38800000u) {  // normal in fp16: exponent rebased from 127 to 15
    const u32 rebased = magnitude - 0x38000000u;
    return static_cast<u16>(sign | ((rebased + 0xfffu + (rebased >> 13 & 1u)) >> 13));
  }
  if (magnitude < 0x33000000u) return static_cast<u16>(sign);  // less than half of the smallest subnormal
  const u32 mantissa = (magnitude & 0x7fffffu) | 0x800000u;
  const u32 shift = 126u - (magnitude >> 23);  // 14 to 24
  const u32 half = 1u << (shift - 1u);
  const u32 rest = mantissa & ((1u << shift) - 1u);
  u32 result = mantissa >> shift;
  if (rest > half || (rest == half && (result & 1u))) ++result;
  return static_cast<u16>(sign | result);
}
inline u32 half_pair_of(float low, float high) { return half_of(low) | static_cast<u32>(half_of(high)) << 16; }

inline float wide_of_half(u16 bits) {
  const u32 sign = static_cast<u32>(bits & 0x8000u) << 16;
  const u32 magnitude = bits & 0x7fffu;
  if (magnitude > 0x7c00u) return __uint_as_float(0x7fffffffu);
  if (magnitude == 0x7c00u) return __uint_as_float(sign | 0x7f800000u);
  if (magnitude >= 0x400u) return __uint_as_float(sign | ((magnitude << 13) + 0x38000000u));
  const float value = static_cast<float>(magnitude) * 5.9604644775390625e-8f;  // 2^-24, exact
  return __uint_as_float(sign | __float_as_uint(value));
}

}  // namespace strop
