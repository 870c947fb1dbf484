#pragma once

// Kernels that each do one thing wrong, with a switch that puts it right (`fixed`): what a checker says nothing about
// when it is right and something when it is wrong, it has seen.

#include "common/memory.cuh"
#include "common/warp.cuh"

namespace strop::faults {

struct Args {
  const u32* in;
  u32* out;
  u32 count;
};

struct Params {
  static constexpr int threads = 128;
  static constexpr int fixed = 0;
};

template <class P>
__device__ void missing_barrier(const Args& a) {
  STROP_SHARED(u32, cells, P::threads);
  const int t = threadIdx.x;
  cells[t] = a.in[t];
  if constexpr (P::fixed) __syncthreads();
  a.out[t] = cells[P::threads - 1 - t];
}

// The second half overwrites what the first is still to read.
template <class P>
__device__ void missing_barrier_before_reuse(const Args& a) {
  STROP_SHARED(u32, cells, P::threads);
  const int t = threadIdx.x;
  u32 v = a.in[t];
  for (int round = 0; round < 3; ++round) {
    cells[t] = v;
    __syncthreads();
    v += cells[P::threads - 1 - t];
    if constexpr (P::fixed) __syncthreads();
  }
  a.out[t] = v;
}

// Copied bytes belong to the issuing thread until a barrier.
template <class P>
__device__ void async_copy_without_barrier(const Args& a) {
  STROP_SHARED(u32, cells, P::threads);
  const int t = threadIdx.x;
  copy_async<4>(cells + t, a.in + t);
  copy_async_commit();
  copy_async_wait<0>();
  if constexpr (P::fixed) __syncthreads();
  a.out[t] = cells[P::threads - 1 - t];
}

template <class P>
__device__ void async_copy_without_wait(const Args& a) {
  STROP_SHARED(u32, cells, P::threads);
  const int t = threadIdx.x;
  copy_async<4>(cells + t, a.in + t);
  copy_async_commit();
  if constexpr (P::fixed) copy_async_wait<0>();
  __syncthreads();
  a.out[t] = cells[P::threads - 1 - t];
}

// The producer does not wait until the stage is empty.
template <class P>
__device__ void ring_overrun(const Args& a) {
  STROP_SHARED(u32, stage, 64);
  STROP_SHARED(Mbarrier, full, 2);
  STROP_SHARED(Mbarrier, empty, 1);
  const int t = threadIdx.x;
  if (t == 0) {
    mbarrier_init(full, 1);
    mbarrier_init(full + 1, 1);
    mbarrier_init(empty, 64);
    mbarrier_init_fence();
  }
  __syncthreads();
  for (int tile = 0; tile < 2; ++tile) {
    if (t == 64) {
      if (P::fixed && tile > 0) mbarrier_wait(empty, 0);
      mbarrier_arrive_expect(full + tile, 256);
      bulk_copy(stage, a.in + tile * 64, 256, full + tile);
    } else if (t < 64) {
      mbarrier_wait(full + tile, 0);
      a.out[tile * 64 + t] = stage[63 - t];
      mbarrier_arrive(empty);
    }
  }
}

template <class P>
__device__ void reads_past_the_end(const Args& a) {
  const u32 i = threadIdx.x;
  a.out[i] = a.in[P::fixed ? i : i + 1];
}

template <class P>
__device__ void writes_past_the_end(const Args& a) {
  const u32 i = threadIdx.x;
  a.out[P::fixed ? i : i + 1] = a.in[i];
}

template <class P>
__device__ void shared_overrun(const Args& a) {
  STROP_SHARED(u32, cells, P::threads);
  STROP_SHARED(u32, more, P::threads);
  const int t = threadIdx.x;
  u32* place = P::fixed ? cells + t : cells + t + 1;
  *place = a.in[t];
  more[t] = 0;
  __syncthreads();
  a.out[t] = cells[t] + more[t];
}

template <class P>
__device__ void dynamic_shared_overrun(const Args& a) {
  STROP_DYNAMIC_SHARED(u32, cells);
  const int t = threadIdx.x;
  cells[P::fixed ? t : t + 1] = a.in[t];
  __syncthreads();
  a.out[t] = cells[t];
}

template <class P>
__device__ void stack_overrun(const Args& a) {
  u32 local[4];
  for (int i = 0; i < 4; ++i) local[i] = a.in[i];
  __syncthreads();
  const u32 at = P::fixed ? 3u : a.count;  // 4 or more, which the compiler can't know
  a.out[threadIdx.x] = local[at];
}

template <class P>
__device__ void divergent_barrier(const Args& a) {
  const u32 t = threadIdx.x;
  if (P::fixed || t < 64) {
    __syncthreads();
  } else {
    __syncthreads();
  }
  a.out[t] = a.in[t];
}

template <class P>
__device__ void returns_before_the_barrier(const Args& a) {
  const u32 t = threadIdx.x;
  if (!P::fixed && t == 5) return;
  __syncthreads();
  a.out[t] = a.in[t];
}

template <class P>
__device__ void deadlock(const Args& a) {
  const u32 t = threadIdx.x;
  if (P::fixed || t < 64) named_barrier_sync(1, P::threads);
  a.out[t] = a.in[t];
}

template <class P>
__device__ void waits_for_ever(const Args& a) {
  STROP_SHARED(Mbarrier, never, 1);
  if (threadIdx.x == 0) mbarrier_init(never, P::threads + (P::fixed ? 0 : 1));
  __syncthreads();
  mbarrier_arrive(never);
  mbarrier_wait(never, 0);
  a.out[threadIdx.x] = a.in[threadIdx.x];
}

template <class P>
__device__ void one_arrival_too_many(const Args& a) {
  STROP_SHARED(Mbarrier, counted, 1);
  if (threadIdx.x == 0) {
    mbarrier_init(counted, 1);
    mbarrier_arrive_expect(counted, 16);
    if (!P::fixed) mbarrier_arrive(counted);
  }
  a.out[threadIdx.x] = a.in[threadIdx.x];
}

template <class P>
__device__ void traps(const Args& a) {
  if (!P::fixed && threadIdx.x == 7 && blockIdx.x == 1) trap("count is odd");
  __syncthreads();
  a.out[blockIdx.x * P::threads + threadIdx.x] = a.in[threadIdx.x];
}

template <class P>
__device__ void misaligned_load(const Args& a) {
  const bf16* in = reinterpret_cast<const bf16*>(a.in) + (P::fixed ? 0 : 1);
  const Pack<bf16, 2> v = load_pack<2>(in + 2 * (threadIdx.x % 32));
  a.out[threadIdx.x] = v.pairs[0];
}

template <class P>
__device__ void lane_outside_its_mask(const Args& a) {
  const u32 mask = P::fixed ? kFullWarp : 0x0000ffffu;
  a.out[threadIdx.x] = __shfl_xor_sync(mask, a.in[threadIdx.x], 1);
}

template <class P>
__device__ void reads_a_lane_outside_the_mask(const Args& a) {
  u32 v = a.in[threadIdx.x];
  if (threadIdx.x % 32 < 16) v = __shfl_sync(0x0000ffffu, v, P::fixed ? 3 : 20);
  a.out[threadIdx.x] = v;
}

template <class P>
__device__ void different_collectives(const Args& a) {
  u32 v = a.in[threadIdx.x];
  if (P::fixed || threadIdx.x % 2 == 0) {
    v = __shfl_xor_sync(kFullWarp, v, 1);
  } else {
    v = __shfl_xor_sync(kFullWarp, v, 2);
  }
  a.out[threadIdx.x] = v;
}

template <class P>
__device__ void too_much_static_shared(const Args& a) {
  constexpr int kWords = P::fixed ? 12 * 1024 : 12 * 1024 + 1;
  STROP_SHARED(u32, cells, kWords);
  cells[threadIdx.x] = a.in[threadIdx.x];
  a.out[threadIdx.x] = cells[threadIdx.x];
}

}  // namespace strop::faults
