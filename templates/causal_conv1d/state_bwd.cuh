#pragma once

// What the states have to do with the gradients, at the two ends of each sequence; runs after bwd.cuh.
//
//   d_initial[n,d,s]  of the row W - s before the start: the convolution's part, sum over the sequence's rows q of w * g[q] as for dx, and
//                     where the sequence is shorter than W, the gradient of the final state that the slot was handed on to
//   dx                of the last W rows, made anew with the gradient of the final state added before the one rounding
//
// A thread has one channel of one sequence, and recomputes the few rows of g that it needs.

#include "causal_conv1d/final_state.cuh"

namespace strop {

struct CausalConv1dStateBwdArgs {
  const void* x;
  const void* weight;
  const void* bias;
  const void* dy;
  const void* d_final;  // null: no gradient flows back from the final states, dx is left alone
  void* d_initial;      // null: not wanted
  void* dx;
  i64 T;
  u32 blocks_d;
  i64 x_sequence, x_row, x_channel;
  i64 dy_sequence, dy_row, dy_channel;
  i64 dx_sequence, dx_row, dx_channel;
  i64 final_sequence, final_channel, final_slot;
  i64 d_initial_sequence, d_initial_channel, d_initial_slot;
  i64 weight_channel, weight_tap;
  CausalConv1dSequences sequences;
};

struct CausalConv1dStateBwdParams {
  static constexpr int D = 64, W = 4;
  static constexpr int x_type = 2, weight_type = 0;
  static constexpr bool silu = true, bias = false;
  static constexpr bool initial = false;
  static constexpr int packed = 0;
  static constexpr bool packed_taps = false;
  static constexpr int threads = 256;  // at most; the launch may have fewer
};

namespace causal_conv1d {

template <class P>
struct StateBackward {
  using X = Storage<P::x_type>;
  static constexpr int W = P::W;

  const CausalConv1dStateBwdArgs& a;
  OneSequence<P> one;
  const X* x;
  const X* dy;
  Taps<P, 1> taps;

  __device__ __forceinline__ explicit StateBackward(const CausalConv1dStateBwdArgs& args) : a(args), one(args.sequences, args.blocks_d, args.T) {}

  __device__ __forceinline__ float input(i64 row) const {
    const i64 back = one.place.start - row;
    if (back > 0) return before_start<P>(a.sequences, one.place.n, one.d, static_cast<int>(back));
    return to_float(x[row * a.x_row]);
  }
  // g of a row of the sequence.
  __device__ __forceinline__ float gradient(i64 row) const {
    const float pre = taps.pre([&](int k) { return input(row - (W - 1) + k); }, 0);
    const float value = to_float(dy[row * a.dy_row]);
    return P::silu ? value * silu_slope<kSigmoid>(pre) : value;
  }
  // sum_k weight[k] * g[row + (W-1) - k] over rows of the sequence; `row` may lie before its start.
  __device__ __forceinline__ float convolved(i64 row) const {
    float sum = 0;
    STROP_UNROLL
    for (int k = W - 1; k >= 0; --k) {
      const i64 later = row + (W - 1) - k;
      if (later >= one.place.start && later < one.place.end) sum = fmaf(taps.weight[k][0], gradient(later), sum);
    }
    return sum;
  }
  // The final state's gradient of the row that is `back` rows before the end; 1 to W.
  __device__ __forceinline__ float from_final(i64 back) const {
    if (a.d_final == nullptr || back > W) return 0.0f;
    return to_float(static_cast<const X*>(a.d_final)[one.place.n * a.final_sequence + one.d * a.final_channel + (W - back) * a.final_slot]);
  }
};

}  // namespace causal_conv1d

template <class P>
__device__ void causal_conv1d_state_bwd(const CausalConv1dStateBwdArgs& a) {
  namespace conv = causal_conv1d;
  using S = conv::StateBackward<P>;
  using X = typename S::X;
  S s(a);
  const auto& place = s.one.place;
  const i64 d = s.one.d;
  if (d >= P::D) return;
  s.x = static_cast<const X*>(a.x) + s.one.row_sequence * a.x_sequence + d * a.x_channel;
  s.dy = static_cast<const X*>(a.dy) + s.one.row_sequence * a.dy_sequence + d * a.dy_channel;
  if (place.start < place.end) s.taps.load(a.weight, a.bias, d, a.weight_channel, a.weight_tap);  // without rows there may be no weight
  if (a.d_initial != nullptr) {
    X* to = static_cast<X*>(a.d_initial) + place.n * a.d_initial_sequence + d * a.d_initial_channel;
    STROP_UNROLL_BY(1)
    for (int slot = 0; slot < P::W; ++slot) {
      const i64 row = place.start - (P::W - slot);
      to[slot * a.d_initial_slot] = from_float<X>(s.convolved(row) + s.from_final(place.end - row));
    }
  }
  if (a.d_final != nullptr) {
    X* dx = static_cast<X*>(a.dx) + s.one.row_sequence * a.dx_sequence + d * a.dx_channel;
    STROP_UNROLL_BY(1)
    for (i64 row = max(place.start, place.end - P::W); row < place.end; ++row)
      dx[row * a.dx_row] = from_float<X>(s.convolved(row) + s.from_final(place.end - row));
  }
}

}  // namespace strop
