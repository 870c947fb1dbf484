#pragma once

// y = activation(causal convolution of x). A thread has `vec` neighbouring channels and `rows` successive rows: it issues all its row
// loads, the W-1 before its first row among them, before any arithmetic, then stores. No loop, no barrier: the blocks are short and in
// memory order, which is what a copy kernel does.

#include "causal_conv1d/common.cuh"

namespace strop {

struct CausalConv1dFwdArgs {
  const void* x;
  const void* weight;
  const void* bias;
  void* y;
  i64 T;
  u32 lanes_log2;    // of the threads that lie side by side along the channels; the others of a block have later rows
  Divisor blocks_d;  // of lanes * vec channels
  Divisor blocks_t;  // of rows * threads / lanes rows
  i64 x_sequence, x_row, x_channel;  // strides in elements
  i64 y_sequence, y_row, y_channel;
  i64 weight_channel, weight_tap;
};

struct CausalConv1dFwdParams {
  static constexpr int D = 64, W = 4;
  static constexpr int x_type = 2, weight_type = 0;  // strop::DType
  static constexpr bool silu = true, bias = false;
  static constexpr bool dense = false;         // x and y are dense
  static constexpr bool whole_blocks = false;  // T is a multiple of every config's rows a block: no row needs a test
  static constexpr int max_vec = 1;            // widest vector that the layout allows; limits vec
  static constexpr bool packed_taps = false;   // the weight is dense, and a channel's taps are one aligned power of two of bytes
  // Tunable:
  static constexpr int vec = 1, rows = 16, threads = 128, min_blocks = 1;
};

template <class P>
__device__ void causal_conv1d_fwd(const CausalConv1dFwdArgs& a) {
  namespace conv = causal_conv1d;
  using X = conv::Storage<P::x_type>;
  constexpr int V = P::vec, W = P::W, kHalo = W - 1, kRing = conv::ring_slots(W);
  const u32 lanes = 1u << a.lanes_log2;
  const auto at = conv::position<V>(threadIdx.x & (lanes - 1), lanes, a.blocks_d, a.blocks_t);
  if (at.d >= P::D) return;
  const i64 t0 = ((at.block_t * P::threads + threadIdx.x) >> a.lanes_log2) * P::rows;
  if (!P::whole_blocks && t0 >= a.T) return;

  const i64 x_row = conv::row_stride<P>(a.x_row), y_row = conv::row_stride<P>(a.y_row);
  const X* x = static_cast<const X*>(a.x) + at.sequence * a.x_sequence + t0 * x_row + at.d * a.x_channel;
  Pack<X, V> in[P::rows];
  STROP_UNROLL
  for (int r = 0; r < P::rows; ++r) {
    if constexpr (P::whole_blocks) in[r] = load_pack<V, Load::read_only>(x + r * x_row);
    else in[r] = load_pack_if<V, Load::read_only>(x + r * x_row, t0 + r < a.T);
  }
  Pack<X, V> before[kHalo > 0 ? kHalo : 1];
  STROP_UNROLL
  for (int h = 0; h < kHalo; ++h) before[h] = load_pack_if<V, Load::read_only>(x + (h - kHalo) * x_row, t0 + h >= kHalo);
  conv::Taps<P, V> taps;
  taps.load(a.weight, a.bias, at.d, a.weight_channel, a.weight_tap);

  float ring[kRing][V];
  STROP_UNROLL
  for (int h = 0; h < kHalo; ++h) before[h].widen(ring[(h - kHalo + kRing) % kRing]);
  X* y = static_cast<X*>(a.y) + at.sequence * a.y_sequence + t0 * y_row + at.d * a.y_channel;
  STROP_UNROLL
  for (int r = 0; r < P::rows; ++r) {
    in[r].widen(ring[r % kRing]);
    float out[V];
    STROP_UNROLL
    for (int i = 0; i < V; ++i) {
      const float pre = taps.pre([&](int k) { return ring[(r - kHalo + k + kRing) % kRing][i]; }, i);
      out[i] = P::silu ? silu<conv::kSigmoid>(pre) : pre;
    }
    if (P::whole_blocks || t0 + r < a.T) store(y + r * y_row, out);
  }
}

}  // namespace strop
