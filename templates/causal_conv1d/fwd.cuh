#pragma once

// y = activation(causal convolution of x) + residual. A thread has `vec` neighbouring channels and `rows` successive rows: it issues all
// its row loads, the W-1 before its first row among them, before any arithmetic, then stores. No loop, no barrier: the blocks are short
// and in memory order, which is what a copy kernel does. Packed sequences: a thread whose rows lie inside one sequence goes the same
// way; one that meets a boundary looks for it at every row.

#include "causal_conv1d/sequences.cuh"

namespace strop {

struct CausalConv1dFwdArgs {
  const void* x;
  const void* weight;
  const void* bias;
  const void* residual;
  void* y;
  i64 T;
  u32 lanes_log2;    // of the threads that lie side by side along the channels; the others of a block have later rows
  Divisor blocks_d;  // of lanes * vec channels
  Divisor blocks_t;  // of rows * threads / lanes rows
  i64 x_sequence, x_row, x_channel;  // strides in elements
  i64 y_sequence, y_row, y_channel;
  i64 residual_sequence, residual_row, residual_channel;
  i64 weight_channel, weight_tap;
  CausalConv1dSequences sequences;
};

struct CausalConv1dFwdParams {
  static constexpr int D = 64, W = 4;
  static constexpr int x_type = 2, weight_type = 0;  // strop::DType
  static constexpr bool silu = true, bias = false;
  static constexpr bool residual = false;
  static constexpr bool initial = false;       // there are initial states
  static constexpr int packed = 0;             // causal_conv1d::Place
  static constexpr bool dense = false;         // x, y and residual are dense
  static constexpr bool whole_blocks = false;  // T is a multiple of every config's rows a block: no row needs a test
  static constexpr int max_vec = 1;            // widest vector that the layout allows; limits vec
  static constexpr bool packed_taps = false;   // the weight is dense, and a channel's taps are one aligned power of two of bytes
  // Tunable:
  static constexpr int vec = 1, rows = 16, threads = 128, min_blocks = 1;
};

namespace causal_conv1d {

// A thread's rows. kWhole: all of them exist, and no row needs a test.
template <class P, bool kWhole>
struct Forward {
  using X = Storage<P::x_type>;
  static constexpr int V = P::vec, W = P::W, kHalo = W - 1, kRing = ring_slots(W);

  Taps<P, V> taps;
  Pack<X, V> in[P::rows];
  Pack<X, V> residual[P::residual ? P::rows : 1];
  float ring[kRing][V];

  // Row r's pack of a tensor, or zeros past the end.
  __device__ __forceinline__ static Pack<X, V> row(const X* from, i64 stride, int r, bool inside) {
    if constexpr (kWhole) return load_pack<V, Load::read_only>(from + r * stride);
    else return load_pack_if<V, Load::read_only>(from + r * stride, inside);
  }

  template <bool kEdges>
  __device__ __forceinline__ void rows(const CausalConv1dFwdArgs& a, X* y, i64 y_row, i64 t0, i64 d, Place<P>& place) {
    STROP_UNROLL
    for (int r = 0; r < P::rows; ++r) {
      if constexpr (kEdges) {
        if (t0 + r == place.end) {
          place.follow(a.sequences, t0 + r);
          enter<P>(ring, a.sequences, place.n, d, r);
        }
      }
      in[r].widen(ring[r % kRing]);
      float out[V], added[V];
      if constexpr (P::residual) residual[r].widen(added);
      STROP_UNROLL
      for (int i = 0; i < V; ++i) {
        const float pre = taps.pre([&](int k) { return ring[(r - kHalo + k + kRing) % kRing][i]; }, i);
        out[i] = P::silu ? silu<kSigmoid>(pre) : pre;
        if constexpr (P::residual) out[i] += added[i];
      }
      if constexpr (kWhole) store(y + r * y_row, out);
      else store_if(y + r * y_row, out, t0 + r < a.T);
    }
  }

  // Rows t0 and on. `exists`: lanes past the channels come along where whole warps look for their sequence.
  __device__ __forceinline__ void run(const CausalConv1dFwdArgs& a, const Position& at, i64 t0, bool exists) {
    const i64 x_row = row_stride<P>(a.x_row), y_row = row_stride<P>(a.y_row);
    const X* x = static_cast<const X*>(a.x) + at.sequence * a.x_sequence + t0 * x_row + at.d * a.x_channel;
    STROP_UNROLL
    for (int r = 0; r < P::rows; ++r) in[r] = row(x, x_row, r, t0 + r < a.T);
    Pack<X, V> before[kHalo > 0 ? kHalo : 1];
    STROP_UNROLL
    for (int h = 0; h < kHalo; ++h) before[h] = load_pack_if<V, Load::read_only>(x + (h - kHalo) * x_row, t0 + h >= kHalo);
    if constexpr (P::residual) {
      const i64 stride = row_stride<P>(a.residual_row);
      const X* added = static_cast<const X*>(a.residual) + at.sequence * a.residual_sequence + t0 * stride + at.d * a.residual_channel;
      STROP_UNROLL
      for (int r = 0; r < P::rows; ++r) residual[r] = row(added, stride, r, t0 + r < a.T);
    }
    taps.load(a.weight, a.bias, at.d, a.weight_channel, a.weight_tap);
    Place<P> place;
    if constexpr (P::packed != 0) place.find(a.sequences, t0);
    else place.dense(at.sequence, a.T);
    if (P::packed != 0 && !exists) return;

    STROP_UNROLL
    for (int h = 0; h < kHalo; ++h) before[h].widen(ring[(h - kHalo + kRing) % kRing]);
    begin<P>(ring, a.sequences, place, t0, at.d);
    X* y = static_cast<X*>(a.y) + at.sequence * a.y_sequence + t0 * y_row + at.d * a.y_channel;
    if (P::packed != 0 && place.end < t0 + P::rows) rows<true>(a, y, y_row, t0, at.d, place);
    else rows<false>(a, y, y_row, t0, at.d, place);
  }
};

}  // namespace causal_conv1d

template <class P>
__device__ void causal_conv1d_fwd(const CausalConv1dFwdArgs& a) {
  namespace conv = causal_conv1d;
  const u32 lanes = 1u << a.lanes_log2;
  auto at = conv::position<P::vec>(threadIdx.x & (lanes - 1), lanes, a.blocks_d, a.blocks_t);
  const bool exists = at.d < P::D;
  if (P::packed == 0 && !exists) return;
  if (!exists) at.d = 0;
  const i64 t0 = ((at.block_t * P::threads + threadIdx.x) >> a.lanes_log2) * P::rows;
  if (P::whole_blocks || t0 + P::rows <= a.T) {
    conv::Forward<P, true> f;
    f.run(a, at, t0, exists);
  } else if (t0 < a.T) {
    conv::Forward<P, false> f;
    f.run(a, at, t0, exists);
  }
}

}  // namespace strop
