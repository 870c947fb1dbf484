#pragma once

#include "wrappers/args.cuh"

namespace strop::conformance {

struct AsyncCopyParams {
  static constexpr int threads = 64;
  static constexpr int bytes = 16;
};

// Four stages in a ring of two; in each every third thread copies nothing and every fifth half, so that zero fill is
// seen.
template <class P>
__device__ void async_copy(const Args& a) {
  constexpr int kWords = P::bytes / 4;
  constexpr int kStage = P::threads * kWords;
  STROP_SHARED(u32, ring, 2 * kStage);
  const int t = threadIdx.x;
  const int bytes = t % 3 == 0 ? 0 : t % 5 == 0 ? P::bytes / 2 : P::bytes;
  auto issue = [&](int stage) {
    copy_async<P::bytes>(ring + (stage & 1) * kStage + t * kWords, a.in + stage * kStage + t * kWords, bytes);
    copy_async_commit();
  };
  issue(0);
  for (int stage = 0; stage < 4; ++stage) {
    if (stage < 3) {
      issue(stage + 1);
      copy_async_wait<1>();
    } else {
      copy_async_wait<0>();
    }
    __syncthreads();
    const int from = (t + 1) % P::threads;
    for (int w = 0; w < kWords; ++w)
      a.out[stage * kStage + t * kWords + w] = ring[(stage & 1) * kStage + from * kWords + w];
    __syncthreads();
  }
}

}  // namespace strop::conformance
