#pragma once

#include "wrappers/args.cuh"

namespace strop::conformance {

struct BarrierParams {
  static constexpr int threads = 128;
  static constexpr int rounds = 5;
};

// Every thread reads what a far thread wrote, round after round.
template <class P>
__device__ void barrier(const Args& a) {
  STROP_SHARED(u32, cells, P::threads);
  const int t = threadIdx.x;
  u32 v = a.in[blockIdx.x * P::threads + t];
  for (int round = 0; round < P::rounds; ++round) {
    cells[t] = v;
    __syncthreads();
    v = cells[P::threads - 1 - t] * 3u + static_cast<u32>(round) + cells[(t + 37) % P::threads];
    __syncthreads();
  }
  a.out[blockIdx.x * P::threads + t] = v;
}

struct NamedBarrierParams {
  static constexpr int threads = 128;
};

// Two warps make, two warps take, through two barriers for each of two cells; the makers arrive and go on.
template <class P>
__device__ void named_barrier(const Args& a) {
  STROP_DYNAMIC_SHARED(u32, cells);  // two buffers of 64
  const int t = threadIdx.x, half = t % 64;
  constexpr int kFull = 1, kEmpty = 3;  // each and the one after it
  for (int round = 0; round < 6; ++round) {
    const int buffer = round & 1;
    if (t < 64) {
      if (round >= 2) named_barrier_sync(kEmpty + buffer, P::threads);
      cells[buffer * 64 + half] = a.in[half] + static_cast<u32>(round);
      named_barrier_arrive(kFull + buffer, P::threads);
    } else {
      named_barrier_sync(kFull + buffer, P::threads);
      a.out[round * 64 + half] = cells[buffer * 64 + (half ^ 33)];
      if (round < 4) named_barrier_arrive(kEmpty + buffer, P::threads);
    }
  }
}

}  // namespace strop::conformance
