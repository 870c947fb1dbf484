#pragma once

// Sums and maxima over a warp, in a fixed order (a butterfly), so that results are the same from run to run. `Width`
// lanes, a power of two, form a group; all lanes named in `mask` must call.

#include "common/types.cuh"

namespace strop {

constexpr u32 kFullWarp = 0xffffffffu;

template <int Width = 32>
__device__ __forceinline__ float warp_sum(float v, u32 mask = kFullWarp) {
  STROP_UNROLL
  for (int step = Width / 2; step > 0; step /= 2) v += __shfl_xor_sync(mask, v, step);
  return v;
}

template <int Width = 32>
__device__ __forceinline__ float warp_max(float v, u32 mask = kFullWarp) {
  STROP_UNROLL
  for (int step = Width / 2; step > 0; step /= 2) v = fmaxf(v, __shfl_xor_sync(mask, v, step));
  return v;
}

}  // namespace strop
