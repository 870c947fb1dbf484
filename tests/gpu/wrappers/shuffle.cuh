#pragma once

#include "wrappers/args.cuh"

namespace strop::conformance {

struct ShuffleParams {
  static constexpr int threads = 64;
  static constexpr int width = 32;
};

// Five results a thread.
template <class P>
__device__ void shuffle(const Args& a) {
  const int t = threadIdx.x;
  const u32 v = a.in[t];
  u32* out = a.out + 5 * t;
  out[0] = __shfl_sync(0xffffffffu, v, 5 + t, P::width);
  out[1] = __shfl_xor_sync(0xffffffffu, v, 3, P::width);
  out[2] = __shfl_up_sync(0xffffffffu, v, 2, P::width);
  out[3] = __shfl_down_sync(0xffffffffu, v, 7, P::width);
  const float f = __shfl_xor_sync(0xffffffffu, __uint_as_float(v), 1, P::width);
  out[4] = __float_as_uint(f);
}

}  // namespace strop::conformance
