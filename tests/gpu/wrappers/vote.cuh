#pragma once

#include "common/warp.cuh"
#include "wrappers/args.cuh"

namespace strop::conformance {

struct VoteParams {
  static constexpr int threads = 96;
};

// Nine results a thread.
template <class P>
__device__ void vote(const Args& a) {
  const int t = threadIdx.x;
  const u32 v = a.in[t];
  u32* out = a.out + 9 * t;
  out[0] = __ballot_sync(kFullWarp, v & 1u);
  out[1] = static_cast<u32>(__any_sync(kFullWarp, v == 77u));
  out[2] = static_cast<u32>(__all_sync(kFullWarp, v < 900u));
  out[3] = static_cast<u32>(__syncthreads_or(v == 77u));
  out[4] = static_cast<u32>(__syncthreads_and(v < 2000u));
  out[5] = static_cast<u32>(__syncthreads_count(static_cast<int>(v & 3u)));
  // Half warps apart: each with its own mask.
  const u32 mask = (t & 16) ? 0xffff0000u : 0x0000ffffu;
  out[6] = __ballot_sync(mask, v & 2u);
  __syncwarp();
  out[7] = __float_as_uint(warp_sum(static_cast<float>(v)));
  out[8] = __float_as_uint(warp_max<8>(static_cast<float>(v)));
}

}  // namespace strop::conformance
