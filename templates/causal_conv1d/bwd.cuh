#pragma once

// dx, and partial sums of dw and db. A thread has `vec` channels and a strip of rows; x, dy and g = dy * act'(pre) live in rings
// of registers, the next rows' raw data are loaded while these are used.
//
// The order of summation of dw and db is part of the contract and the same whatever the config: a segment is 32 rows, summed in order
// of t by fused multiply-adds from 0; a unit is the four segments of 128 rows, (s0 + s1) + (s2 + s3), those past the end being 0.
// Units go to memory, [unit][tap][D], and dw_reduce.cuh adds them. A strip of 128 rows or more has whole units of its own, folded in
// thread-private slots of shared memory (registers are what this kernel has least of); shorter strips share a unit in shared memory.

#include "causal_conv1d/common.cuh"

namespace strop {

struct CausalConv1dBwdArgs {
  const void* x;
  const void* weight;
  const void* bias;
  const void* dy;
  void* dx;
  float* partial;  // [B * units][W + bias][D]
  i64 T;
  i64 rows;        // of a strip
  u32 blocks_d;    // of lanes * vec channels
  u32 blocks_t;    // of rows * strips rows
  i64 units;       // of 128 rows, a sequence
  i64 x_sequence, x_row, x_channel;  // strides in elements
  i64 dy_sequence, dy_row, dy_channel;
  i64 dx_sequence, dx_row, dx_channel;
  i64 weight_channel, weight_tap;
};

struct CausalConv1dBwdParams {
  static constexpr int D = 64, W = 4;
  static constexpr int x_type = 2, weight_type = 0;
  static constexpr bool silu = true, bias = false;
  static constexpr bool dense = false;  // x, dy and dx are dense
  static constexpr bool whole_blocks = false;  // T is a multiple of 128
  static constexpr int max_vec = 1;
  static constexpr bool packed_taps = false;
  // Tunable:
  static constexpr int vec = 1, strips = 1, threads = 128, min_blocks = 1;  // strips: that make a unit together; 1: a strip has whole units
};

namespace causal_conv1d {

constexpr int kSegment = 32;
constexpr int kUnit = 128;
constexpr int kSegmentsOfUnit = kUnit / kSegment;

template <class P>
struct Backward {
  using X = Storage<P::x_type>;
  static constexpr int V = P::vec, W = P::W, kHalo = W - 1, kRing = ring_slots(W);
  static constexpr int kGroup = kRing < 4 ? 4 : kRing;  // rows loaded ahead, a multiple of the ring
  static constexpr int kSums = W + (P::bias ? 1 : 0);

  Taps<P, V> taps;
  float x[kRing][V];
  float g[kRing][V];
  float sums[kSums][V];
  Pack<X, V> next_x[kGroup];
  Pack<X, V> next_dy[kGroup];
  const X* px;  // row of next_x[0] after the next `fetch`
  const X* pdy;
  i64 t_fetch;

  // Loads row u of the group at t_fetch. Rows past the end come as 0, or, where whole groups are inside or outside, are not loaded.
  __device__ __forceinline__ void fetch(const CausalConv1dBwdArgs& a, int u) {
    if constexpr (P::whole_blocks) {
      next_x[u] = load_pack<V, Load::read_only>(px + u * row_stride<P>(a.x_row));
      next_dy[u] = load_pack<V, Load::read_only>(pdy + u * row_stride<P>(a.dy_row));
    } else {
      const bool inside = t_fetch + u < a.T;
      next_x[u] = load_pack_if<V, Load::read_only>(px + u * row_stride<P>(a.x_row), inside);
      next_dy[u] = load_pack_if<V, Load::read_only>(pdy + u * row_stride<P>(a.dy_row), inside);
    }
  }

  __device__ __forceinline__ void advance(const CausalConv1dBwdArgs& a) {
    px += kGroup * row_stride<P>(a.x_row);
    pdy += kGroup * row_stride<P>(a.dy_row);
    t_fetch += kGroup;
    // A group wholly past the end is read from the rows before it instead: what it holds is not used.
    if (P::whole_blocks && t_fetch >= a.T) {
      px -= kGroup * row_stride<P>(a.x_row);
      pdy -= kGroup * row_stride<P>(a.dy_row);
    }
  }

  // Takes row u of the group into the rings: x, and g = dy * act'(pre), 0 past the end whatever x is there.
  __device__ __forceinline__ void take(int u, bool inside) {
    float dy[V];
    next_x[u].widen(x[u % kRing]);
    next_dy[u].widen(dy);
    STROP_UNROLL
    for (int i = 0; i < V; ++i) {
      const float pre = taps.pre([&](int k) { return x[(u - kHalo + k + kRing) % kRing][i]; }, i);
      const float value = P::silu ? dy[i] * silu_slope<kSigmoid>(pre) : dy[i];
      g[u % kRing][i] = inside ? value : 0.0f;
    }
  }

  __device__ __forceinline__ void add_to_sums(int u) {
    STROP_UNROLL
    for (int i = 0; i < V; ++i) {
      const float value = g[u % kRing][i];
      STROP_UNROLL
      for (int k = 0; k < W; ++k) sums[k][i] = fmaf(value, x[(u - kHalo + k + kRing) % kRing][i], sums[k][i]);
      if constexpr (P::bias) sums[W][i] += value;
    }
  }

  // dx of the row W-1 before row u: sum_k weight[k] * g[.. + (W-1) - k].
  __device__ __forceinline__ void store_dx(X* to, int u) const {
    float out[V];
    STROP_UNROLL
    for (int i = 0; i < V; ++i) {
      float sum = taps.weight[kHalo][i] * g[(u - kHalo + kRing) % kRing][i];
      STROP_UNROLL
      for (int k = kHalo - 1; k >= 0; --k) sum = fmaf(taps.weight[k][i], g[(u - k + kRing) % kRing][i], sum);
      out[i] = sum;
    }
    store(to, out);
  }

  __device__ __forceinline__ void clear_sums() {
    STROP_UNROLL
    for (int k = 0; k < kSums; ++k) {
      STROP_UNROLL
      for (int i = 0; i < V; ++i) sums[k][i] = 0.0f;
    }
  }
};

// Where a strip's segments meet. Slots are [which][sum][channel of the thread][thread]: neighbouring threads, neighbouring banks.
template <class P>
struct Fold {
  using B = Backward<P>;
  static constexpr bool kShared = P::strips > 1;  // several strips make a unit
  static constexpr int kSlots = kShared ? kSegmentsOfUnit : 2;
  static constexpr int kColumns = P::threads / P::strips;  // threads side by side along the channels
  static constexpr int kFloats = kSlots * B::kSums * B::V * kColumns;

  __device__ __forceinline__ static float& slot(float* shared, int which, int k, int i, int column) {
    return shared[((which * B::kSums + k) * B::V + i) * kColumns + column];
  }

  // Segment `s` of the strip is complete. Returns true when `b.sums` holds a whole unit.
  __device__ __forceinline__ static bool segment(float* shared, B& b, int s) {
    const int column = threadIdx.x % kColumns;
    const int which = kShared ? static_cast<int>(threadIdx.x / kColumns) * (kSegmentsOfUnit / P::strips) + s : s % kSegmentsOfUnit;
    STROP_UNROLL
    for (int k = 0; k < B::kSums; ++k) {
      STROP_UNROLL
      for (int i = 0; i < B::V; ++i) {
        float& value = b.sums[k][i];
        if constexpr (kShared) {
          slot(shared, which, k, i, column) = value;
        } else {
          if (which == 0) slot(shared, 0, k, i, column) = value;
          if (which == 1) slot(shared, 0, k, i, column) += value;
          if (which == 2) slot(shared, 1, k, i, column) = value;
          if (which == 3) value = slot(shared, 0, k, i, column) + (slot(shared, 1, k, i, column) + value);
        }
      }
    }
    return !kShared && which == kSegmentsOfUnit - 1;
  }
};

template <class P>
__device__ __forceinline__ void store_unit(const CausalConv1dBwdArgs& a, const Backward<P>& b, i64 unit, i64 d) {
  float* to = a.partial + unit * (Backward<P>::kSums * static_cast<i64>(P::D)) + d;
  STROP_UNROLL
  for (int k = 0; k < Backward<P>::kSums; ++k) {
    STROP_UNROLL
    for (int i = 0; i < P::vec; ++i) to[k * static_cast<i64>(P::D) + i] = b.sums[k][i];
  }
}

// The unit that the block's strips share, from shared memory to the partials.
template <class P>
__device__ __forceinline__ void store_shared_unit(const CausalConv1dBwdArgs& a, float* shared, i64 unit, i64 first_d) {
  using F = Fold<P>;
  constexpr int kValues = F::B::kSums * P::vec * F::kColumns;
  for (int at = threadIdx.x; at < kValues; at += P::threads) {
    const int column = at % F::kColumns;
    const int i = at / F::kColumns % P::vec;
    const int k = at / F::kColumns / P::vec;
    const i64 d = first_d + column * P::vec + i;
    const float sum = (F::slot(shared, 0, k, i, column) + F::slot(shared, 1, k, i, column)) +
                      (F::slot(shared, 2, k, i, column) + F::slot(shared, 3, k, i, column));
    if (d < P::D) a.partial[(unit * F::B::kSums + k) * P::D + d] = sum;
  }
}

// One strip, from its first load to its last store.
template <class P>
__device__ __forceinline__ void strip(const CausalConv1dBwdArgs& a, const Position& at, i64 t0, float* shared) {
  using B = Backward<P>;
  using X = typename B::X;
  B b;
  b.px = static_cast<const X*>(a.x) + at.sequence * a.x_sequence + t0 * row_stride<P>(a.x_row) + at.d * a.x_channel;
  b.pdy = static_cast<const X*>(a.dy) + at.sequence * a.dy_sequence + t0 * row_stride<P>(a.dy_row) + at.d * a.dy_channel;
  b.t_fetch = t0;
  STROP_UNROLL
  for (int u = 0; u < B::kGroup; ++u) b.fetch(a, u);
  Pack<X, B::V> before[B::kHalo > 0 ? B::kHalo : 1];
  STROP_UNROLL
  for (int h = 0; h < B::kHalo; ++h)
    before[h] = load_pack_if<B::V, Load::read_only>(b.px + (h - B::kHalo) * row_stride<P>(a.x_row), t0 + h >= B::kHalo);
  b.taps.load(a.weight, a.bias, at.d, a.weight_channel, a.weight_tap);
  STROP_UNROLL
  for (int h = 0; h < B::kHalo; ++h) before[h].widen(b.x[(h - B::kHalo + B::kRing) % B::kRing]);
  b.clear_sums();
  X* out = static_cast<X*>(a.dx) + at.sequence * a.dx_sequence + (t0 - B::kHalo) * row_stride<P>(a.dx_row) + at.d * a.dx_channel;

  i64 t = t0;
  const i64 left = a.T - t0;
  const int segments = left >= a.rows ? static_cast<int>(a.rows / kSegment) : static_cast<int>((left + kSegment - 1) / kSegment);
  for (int s = 0; s < segments; ++s) {
    STROP_UNROLL_BY(1)
    for (int group = 0; group < kSegment / B::kGroup; ++group) {
      b.advance(a);
      const bool first = s == 0 && group == 0;
      STROP_UNROLL
      for (int u = 0; u < B::kGroup; ++u) {
        b.take(u, P::whole_blocks || t + u < a.T);
        b.fetch(a, u);
        b.add_to_sums(u);
        if ((u >= B::kHalo || !first) && (P::whole_blocks || t + u - B::kHalo < a.T)) b.store_dx(out + u * row_stride<P>(a.dx_row), u);
      }
      out += B::kGroup * row_stride<P>(a.dx_row);
      t += B::kGroup;
    }
    if (Fold<P>::segment(shared, b, s)) store_unit<P>(a, b, at.sequence * a.units + (t0 + s * kSegment) / kUnit, at.d);
    b.clear_sums();
  }
  // Units that end before their fourth segment: the missing ones are 0.
  if constexpr (!P::whole_blocks && !Fold<P>::kShared) {
    for (int s = segments; s % kSegmentsOfUnit != 0; ++s)
      if (Fold<P>::segment(shared, b, s)) {
        store_unit<P>(a, b, at.sequence * a.units + (t0 + s * kSegment) / kUnit, at.d);
        b.clear_sums();
      }
  }
  // The last W-1 rows of dx need g of the rows after the strip.
  STROP_UNROLL
  for (int u = 0; u < B::kHalo; ++u) {
    b.take(u, t + u < a.T);
    if (P::whole_blocks || t + u - B::kHalo < a.T) b.store_dx(out + u * row_stride<P>(a.dx_row), u);
  }
}

}  // namespace causal_conv1d

template <class P>
__device__ void causal_conv1d_bwd(const CausalConv1dBwdArgs& a) {
  namespace conv = causal_conv1d;
  using F = conv::Fold<P>;
  STROP_SHARED(float, shared, F::kFloats);
  const auto at = conv::position<P::vec>(threadIdx.x % F::kColumns, F::kColumns, a.blocks_d, a.blocks_t);
  const i64 t0 = (at.block_t * P::strips + threadIdx.x / F::kColumns) * a.rows;
  const bool active = at.d < P::D && t0 < a.T;
  if constexpr (F::kShared) {
    for (int i = threadIdx.x; i < F::kFloats; i += P::threads) shared[i] = 0.0f;  // segments that no strip reaches
    __syncthreads();
  }
  if (active) conv::strip<P>(a, at, t0, shared);
  if constexpr (F::kShared) {
    __syncthreads();
    conv::store_shared_unit<P>(a, shared, at.sequence * a.units + at.block_t, at.d - threadIdx.x % F::kColumns * P::vec);
  }
}

}  // namespace strop
