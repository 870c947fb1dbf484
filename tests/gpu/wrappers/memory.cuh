#pragma once

#include "common/memory.cuh"
#include "wrappers/args.cuh"

namespace strop::conformance {

struct MemoryParams {
  static constexpr int threads = 32;
  static constexpr int elements = 8;
  static constexpr int hint = 0;
};

// Copies of 2-byte elements, `elements` a thread: whole packs, packs loaded if, guarded packs cut at `count`, packs stored if.
template <class P>
__device__ void pack_copy(const Args& a) {
  constexpr int N = P::elements;
  constexpr Load kLoad = static_cast<Load>(P::hint);
  constexpr Store kStore = P::hint == 0 ? Store::plain : Store::streaming;
  const int t = threadIdx.x;
  const bf16* in = reinterpret_cast<const bf16*>(a.in) + t * N;
  bf16* out = reinterpret_cast<bf16*>(a.out) + t * N;
  constexpr int kAll = P::threads * N;
  store_pack<kStore>(out, load_pack<N, kLoad>(in));
  store_pack<kStore>(out + kAll, load_pack_if<N, kLoad>(in, t % 3 != 0));
  const int valid = static_cast<int>(a.count) - t * N;
  store_pack_guarded<kStore>(out + 2 * kAll, load_pack_guarded<N, kLoad>(in, valid - 1), valid);
  store_pack_if<kStore>(out + 3 * kAll, load_pack<N, kLoad>(in), t % 3 != 1);
}

// One byte at a time, which no element type has.
template <class P>
__device__ void byte_copy(const Args& a) {
  constexpr Load kLoad = static_cast<Load>(P::hint);
  constexpr Store kStore = P::hint == 0 ? Store::plain : Store::streaming;
  const int t = threadIdx.x;
  const u8* in = reinterpret_cast<const u8*>(a.in);
  u8* out = reinterpret_cast<u8*>(a.out);
  store_raw<kStore>(out + t, load_raw<kLoad>(in + t));
  store_raw<kStore>(out + P::threads + t, load_raw_if<kLoad>(in + t, t % 2 == 0));
  store_raw_if<kStore>(out + 2 * P::threads + t, load_raw<kLoad>(in + t), t % 2 == 0);
}

// fp32 through registers: widened, doubled, narrowed.
template <class P>
__device__ void value_copy(const Args& a) {
  constexpr int N = P::elements;
  const int t = threadIdx.x;
  float v[N], w[N];
  load<N, static_cast<Load>(P::hint)>(v, reinterpret_cast<const float*>(a.in) + t * N);
  for (int i = 0; i < N; ++i) w[i] = v[i] + v[i];
  store(reinterpret_cast<fp16*>(a.out) + t * N, w);
  store_guarded(reinterpret_cast<float*>(a.out) + P::threads * N + t * N, w, static_cast<int>(a.count) - t * N);
}

}  // namespace strop::conformance
