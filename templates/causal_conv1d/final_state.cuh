#pragma once

// The final states: slot s of [N, D, W] is the input W - s rows before the end of the sequence; where the sequence is shorter, what the
// initial state has there, or 0. A thread has one channel of one sequence.

#include "causal_conv1d/sequences.cuh"

namespace strop {

struct CausalConv1dFinalStateArgs {
  const void* x;
  void* final;
  i64 T;
  u32 blocks_d;  // of as many channels as a block has threads
  i64 x_sequence, x_row, x_channel;
  i64 final_sequence, final_channel, final_slot;
  CausalConv1dSequences sequences;
};

struct CausalConv1dFinalStateParams {
  static constexpr int D = 64, W = 4;
  static constexpr int x_type = 2;
  static constexpr bool initial = false;
  static constexpr int packed = 0;
  static constexpr int threads = 256;  // at most; the launch may have fewer
};

namespace causal_conv1d {

// A thread's channel, and its sequence's bounds. In dense tensors every sequence has rows of its own; packed ones share them.
template <class P>
struct OneSequence {
  i64 d, row_sequence;  // row_sequence: of the strides
  Place<P> place;

  __device__ __forceinline__ OneSequence(const CausalConv1dSequences& s, u32 blocks_d, i64 T) {
    const u32 n = blockIdx.x / blocks_d;
    d = static_cast<i64>(blockIdx.x - n * blocks_d) * blockDim.x + threadIdx.x;
    if constexpr (P::packed != 0) {
      row_sequence = 0;
      place.n = n;
      place.start = Place<P>::bound(s, n);
      place.end = Place<P>::bound(s, n + 1);
    } else {
      row_sequence = n;
      place.dense(n, T);
    }
  }
};

}  // namespace causal_conv1d

template <class P>
__device__ void causal_conv1d_final_state(const CausalConv1dFinalStateArgs& a) {
  namespace conv = causal_conv1d;
  using X = conv::Storage<P::x_type>;
  const conv::OneSequence<P> one(a.sequences, a.blocks_d, a.T);
  if (one.d >= P::D) return;
  const X* x = static_cast<const X*>(a.x) + one.row_sequence * a.x_sequence + one.d * a.x_channel;
  X* to = static_cast<X*>(a.final) + one.place.n * a.final_sequence + one.d * a.final_channel;
  STROP_UNROLL
  for (int s = 0; s < P::W; ++s) {
    const i64 row = one.place.end - (P::W - s);
    const i64 back = one.place.start - row;  // 1 to W where the sequence is too short
    const float value = back <= 0 ? to_float(x[row * a.x_row])
                                  : conv::before_start<P>(a.sequences, one.place.n, one.d, static_cast<int>(back));
    to[s * a.final_slot] = from_float<X>(value);
  }
}

}  // namespace strop
