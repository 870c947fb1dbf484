#pragma once

#include "common/convert.cuh"
#include "wrappers/args.cuh"

namespace strop::conformance {

struct ConvertParams {
  static constexpr int threads = 256;
};

// in: fp32 bits; out: bf16 and fp16 in one word, then the pair forms of (v, -v).
template <class P>
__device__ void narrow(const Args& a) {
  const u32 i = blockIdx.x * P::threads + threadIdx.x;
  if (i >= a.count) return;
  const float v = __uint_as_float(a.in[i]);
  a.out[3 * i] = from_float<bf16>(v).bits | static_cast<u32>(from_float<fp16>(v).bits) << 16;
  a.out[3 * i + 1] = pack_pair<bf16>(v, -v);
  a.out[3 * i + 2] = pack_pair<fp16>(v, -v);
}

// in: 16-bit patterns; out: bf16 and fp16 as fp32, and both ends of the pair (pattern, pattern ^ 0x8000).
template <class P>
__device__ void widen(const Args& a) {
  const u32 i = blockIdx.x * P::threads + threadIdx.x;
  if (i >= a.count) return;
  const u16 bits = static_cast<u16>(a.in[i]);
  const u32 pair = bits | static_cast<u32>(bits ^ 0x8000u) << 16;
  u32* out = a.out + 6 * i;
  out[0] = __float_as_uint(to_float(bf16{bits}));
  out[1] = __float_as_uint(to_float(fp16{bits}));
  out[2] = __float_as_uint(low_of<bf16>(pair));
  out[3] = __float_as_uint(high_of<bf16>(pair));
  out[4] = __float_as_uint(low_of<fp16>(pair));
  out[5] = __float_as_uint(high_of<fp16>(pair));
}

}  // namespace strop::conformance
