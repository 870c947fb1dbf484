#pragma once

#include "wrappers/args.cuh"

namespace strop::conformance {

struct BulkCopyParams {
  static constexpr int threads = 160;
};

// One warp fills a ring of two stages by bulk copies, four warps add one and send the stage out by a bulk store.
template <class P>
__device__ void bulk_copy_ring(const Args& a) {
  constexpr int kStages = 2, kTiles = 6, kWords = 256, kTakers = 128;
  STROP_DYNAMIC_SHARED(u32, ring);
  STROP_SHARED(Mbarrier, full, kStages);
  STROP_SHARED(Mbarrier, empty, kStages);
  STROP_SHARED(u32, result, kWords);
  const int t = threadIdx.x;
  if (t == 0) {
    for (int s = 0; s < kStages; ++s) {
      mbarrier_init(full + s, 1);
      mbarrier_init(empty + s, kTakers);
    }
    mbarrier_init_fence();
  }
  __syncthreads();
  if (t >= kTakers) {
    for (int tile = 0; t == kTakers && tile < kTiles; ++tile) {
      const int s = tile % kStages;
      if (tile >= kStages) mbarrier_wait(empty + s, static_cast<u32>(tile / kStages - 1) & 1u);
      mbarrier_arrive_expect(full + s, kWords * 4);
      bulk_copy(ring + s * kWords, a.in + tile * kWords, kWords * 2, full + s);
      bulk_copy(ring + s * kWords + kWords / 2, a.in + tile * kWords + kWords / 2, kWords * 2, full + s);
    }
  } else {
    for (int tile = 0; tile < kTiles; ++tile) {
      const int s = tile % kStages;
      mbarrier_wait(full + s, static_cast<u32>(tile / kStages) & 1u);
      for (int i = t; i < kWords; i += kTakers) result[kWords - 1 - i] = ring[s * kWords + i] + 1u;
      mbarrier_arrive(empty + s);
      async_proxy_fence();
      named_barrier_sync(1, kTakers);
      if (t == 0) {
        bulk_store(a.out + tile * kWords, result, kWords * 4);
        bulk_store_commit();
        bulk_store_wait<0>();
      }
      named_barrier_sync(1, kTakers);
    }
  }
}

}  // namespace strop::conformance
