#pragma once

// Where sequences begin and end, and what stands before them: zeros, or the initial state. Dense tensors have a sequence each; a packed
// one has `count` of them one behind the other, bounded by cu_seqlens [count + 1] of int32 or int64, empty ones among them.

#include "causal_conv1d/common.cuh"
#include "common/warp.cuh"

namespace strop {

// The initial states [N, D, W] of x's type, and the bounds of packed sequences.
struct CausalConv1dSequences {
  const void* initial;
  const void* bounds;
  u32 count;
  i64 initial_sequence, initial_channel, initial_slot;  // strides in elements
};

namespace causal_conv1d {

constexpr i64 kNever = 0x7fffffffffffffff;

// The sequence of one row, followed along a strip. P::packed is 0 for dense tensors, 1 or 2 for bounds of int32 or int64.
template <class P>
struct Place {
  u32 n;
  i64 start, end;  // of sequence n, in rows

  __device__ __forceinline__ static i64 bound(const CausalConv1dSequences& s, u32 n) {
    return P::packed == 2 ? static_cast<const i64*>(s.bounds)[n] : static_cast<i64>(static_cast<const i32*>(s.bounds)[n]);
  }
  __device__ __forceinline__ void dense(i64 sequence, i64 T) {
    n = static_cast<u32>(sequence);
    start = 0;
    end = T;
  }
  // The last sequence that begins at or before row t, so that empty ones are passed over. All lanes of a warp ask for the same row: a
  // search by 32, one round for up to 32 sequences, two for 1024.
  __device__ __forceinline__ void find(const CausalConv1dSequences& s, i64 t) {
    n = 0;
    const u32 lane = threadIdx.x % 32;
    for (u32 size = s.count; size > 1;) {
      const u32 step = (size + 31) / 32;
      const u32 at = lane * step;
      const u32 begun = static_cast<u32>(__popc(__ballot_sync(kFullWarp, at < size && bound(s, n + at) <= t)));
      const u32 skipped = begun > 0 ? (begun - 1) * step : 0;
      n += skipped;
      size = min(step, size - skipped);
    }
    start = bound(s, n);
    end = bound(s, n + 1);
  }
  // Row t is `end`: on to the sequence that begins there.
  __device__ __forceinline__ void follow(const CausalConv1dSequences& s, i64 t) {
    start = t;
    end = kNever;
    while (n + 1 < s.count) {
      ++n;
      end = bound(s, n + 1);
      if (end > t) return;
    }
    end = kNever;  // past the last one
  }
};

// What stands `back` rows, 1 to W, before the start of sequence n: slot W - back of its initial state.
template <class P>
__device__ __forceinline__ float before_start(const CausalConv1dSequences& s, u32 n, i64 d, int back) {
  if constexpr (P::initial) {
    using X = Storage<P::x_type>;
    return to_float(static_cast<const X*>(s.initial)[n * s.initial_sequence + d * s.initial_channel + (P::W - back) * s.initial_slot]);
  } else {
    return 0.0f;
  }
}

// The rows before row u of a ring become what stands before the start of sequence n.
template <class P, int V, int Slots>
__device__ __forceinline__ void enter(float (&ring)[Slots][V], const CausalConv1dSequences& s, u32 n, i64 d, int u) {
  STROP_UNROLL
  for (int back = 1; back < P::W; ++back) {
    STROP_UNROLL
    for (int i = 0; i < V; ++i) ring[(u - back + Slots) % Slots][i] = before_start<P>(s, n, d + i, back);
  }
}

// A strip begins at row t: of the rows before it in the ring, those of other sequences become what stands before its own.
template <class P, int V, int Slots>
__device__ __forceinline__ void begin(float (&ring)[Slots][V], const CausalConv1dSequences& s, const Place<P>& place, i64 t, i64 d) {
  if constexpr (P::packed == 0 && !P::initial) return;  // rows before the first came as zeros
  if (t - (P::W - 1) >= place.start) return;
  STROP_UNROLL
  for (int back = 1; back < P::W; ++back) {
    const i64 past = place.start - (t - back);
    if (past <= 0) continue;
    STROP_UNROLL
    for (int i = 0; i < V; ++i) ring[(Slots - back) % Slots][i] = before_start<P>(s, place.n, d + i, static_cast<int>(past));
  }
}

}  // namespace causal_conv1d
}  // namespace strop
