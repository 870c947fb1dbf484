#pragma once

// fp32 to and from the storage types, round to nearest even, on the one-element and two-element wrappers of the side.
// NaN becomes the canonical NaN of the narrower type; fp16 NaNs widen to the canonical fp32 NaN, bf16 NaNs keep their
// bits.

#include "common/types.cuh"

namespace strop {

__device__ __forceinline__ float to_float(float v) { return v; }
__device__ __forceinline__ float to_float(bf16 v) { return __uint_as_float(static_cast<u32>(v.bits) << 16); }
__device__ __forceinline__ float to_float(fp16 v) { return wide_of_half(v.bits); }

template <class T>
struct Convert;
template <>
struct Convert<float> {
  __device__ __forceinline__ static float from_float(float v) { return v; }
};
template <>
struct Convert<bf16> {
  __device__ __forceinline__ static bf16 from_float(float v) { return bf16{bfloat_of(v)}; }
  // `low` in the lower half of the word: the element at the lower address.
  __device__ __forceinline__ static u32 pack(float low, float high) { return bfloat_pair_of(low, high); }
  __device__ __forceinline__ static float low(u32 pair) { return __uint_as_float(pair << 16); }
  __device__ __forceinline__ static float high(u32 pair) { return __uint_as_float(pair & 0xffff0000u); }
};
template <>
struct Convert<fp16> {
  __device__ __forceinline__ static fp16 from_float(float v) { return fp16{half_of(v)}; }
  __device__ __forceinline__ static u32 pack(float low, float high) { return half_pair_of(low, high); }
  __device__ __forceinline__ static float low(u32 pair) { return wide_of_half(static_cast<u16>(pair & 0xffffu)); }
  __device__ __forceinline__ static float high(u32 pair) { return wide_of_half(static_cast<u16>(pair >> 16)); }
};

template <class T>
__device__ __forceinline__ T from_float(float v) {
  return Convert<T>::from_float(v);
}
// Two 2-byte elements as one word.
template <class T>
__device__ __forceinline__ u32 pack_pair(float low, float high) {
  return Convert<T>::pack(low, high);
}
template <class T>
__device__ __forceinline__ float low_of(u32 pair) {
  return Convert<T>::low(pair);
}
template <class T>
__device__ __forceinline__ float high_of(u32 pair) {
  return Convert<T>::high(pair);
}

}  // namespace strop
