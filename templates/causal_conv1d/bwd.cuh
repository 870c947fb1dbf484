#pragma once

// dx, and partial sums of dw and db. A thread has `vec` channels and a strip of rows; x, dy and g = dy * act'(pre) live in rings
// of registers; bwd_rows.cuh says where the rows come from.
//
// The order of summation of dw and db is part of the contract and the same whatever the config: a segment is 32 rows, summed in order
// of t by fused multiply-adds from 0; a unit is the four segments of 128 rows, (s0 + s1) + (s2 + s3), those past the end being 0. Of
// all units, U, the partials are the units themselves or, in large problems (`paired`), unit p + unit p + ceil(U/2), the second being 0
// past the end: half the traffic. Partials go to memory, [partial][tap][D], and dw_reduce.cuh adds them.
//
// Designs (`staging`): in `registers` and `ring` a thread's strip is whole units, folded in thread-private slots of shared memory
// (registers are what this kernel has least of), or, `strips` > 1, strips share a unit in shared memory. In `tile` a block has a unit
// at a time, a warp a segment of it; paired, it has both units of its partial.

#include "causal_conv1d/bwd_rows.cuh"

namespace strop {

struct CausalConv1dBwdArgs {
  const void* x;
  const void* weight;
  const void* bias;
  const void* dy;
  void* dx;
  float* partial;  // [partials][W + bias][D]
  i64 T;
  i64 rows;          // of a strip
  Divisor blocks_d;  // of the threads side by side * vec channels
  Divisor blocks_t;  // of rows * strips rows, a sequence
  i64 units;         // of 128 rows, a sequence
  i64 all_units;     // of all sequences
  i64 x_sequence, x_row, x_channel;  // strides in elements
  i64 dy_sequence, dy_row, dy_channel;
  i64 dx_sequence, dx_row, dx_channel;
  i64 weight_channel, weight_tap;
  CausalConv1dSequences sequences;
};

struct CausalConv1dBwdParams {
  static constexpr int D = 64, W = 4;
  static constexpr int x_type = 2, weight_type = 0;
  static constexpr bool silu = true, bias = false;
  static constexpr bool initial = false;       // there are initial states
  static constexpr int packed = 0;             // causal_conv1d::Place
  static constexpr bool dense = false;         // x, dy and dx are dense
  static constexpr bool whole_blocks = false;  // T is a multiple of 128
  static constexpr bool paired = false;        // a partial is the sum of two units
  static constexpr int max_vec = 1;
  static constexpr bool packed_taps = false;
  // Tunable:
  static constexpr int staging = 0;  // causal_conv1d::Staging
  static constexpr int vec = 1, threads = 128, min_blocks = 1;
  static constexpr int strips = 1;  // that make a unit together; 1: a strip has whole units
};

namespace causal_conv1d {

constexpr int kSegment = 32;
constexpr int kUnit = 128;
constexpr int kSegmentsOfUnit = kUnit / kSegment;

// The arithmetic of a thread.
template <class P>
struct Backward {
  using R = Rows<P>;
  using X = typename R::X;
  static constexpr int V = P::vec, W = P::W, kHalo = R::kHalo, kRing = R::kRing;
  static constexpr int kSums = W + (P::bias ? 1 : 0);

  Taps<P, V> taps;
  float x[kRing][V];
  float g[kRing][V];
  float sums[kSums][V];
  // Packed sequences:
  Place<P> place;   // of the row taken last
  int age[kRing];   // rows since the start of its sequence, at most W-1, of the rows of g
  i64 d;

  // Takes row u of a group into the rings: x, and g = dy * act'(pre), 0 past the end whatever x is there.
  __device__ __forceinline__ void take(int u, const typename R::RowPack& row_x, const typename R::RowPack& row_dy, bool inside) {
    float dy[V];
    row_x.widen(x[u % kRing]);
    row_dy.widen(dy);
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

  // dx of the row W-1 before row u: sum_k weight[k] * g[.. + (W-1) - k]. With edges, a row of g whose sequence began after that row
  // has no part in it.
  template <bool kEdges>
  __device__ __forceinline__ void store_dx(X* to, int u, bool wanted) const {
    float out[V];
    STROP_UNROLL
    for (int i = 0; i < V; ++i) {
      float sum = taps.weight[kHalo][i] * g[(u - kHalo + kRing) % kRing][i];
      STROP_UNROLL
      for (int k = kHalo - 1; k >= 0; --k) {
        const int slot = (u - k + kRing) % kRing;
        sum = fmaf(taps.weight[k][i], kEdges && P::packed != 0 && age[slot] < kHalo - k ? 0.0f : g[slot][i], sum);
      }
      out[i] = sum;
    }
    store_if(to, out, wanted);
  }

  // Row t, u of its group, is the next: steps into its sequence.
  __device__ __forceinline__ void step(const CausalConv1dBwdArgs& a, i64 t, int u) {
    if (t == place.end) {
      place.follow(a.sequences, t);
      enter<P>(x, a.sequences, place.n, d, u);
    }
    age[u % kRing] = static_cast<int>(min(t - place.start, static_cast<i64>(kHalo)));
  }
  // Rows [t, t + count) and the W-1 before them are one sequence's.
  __device__ __forceinline__ bool within(i64 t, int count) const { return t - kHalo >= place.start && t + count <= place.end; }

  __device__ __forceinline__ void clear_sums() {
    STROP_UNROLL
    for (int k = 0; k < kSums; ++k) {
      STROP_UNROLL
      for (int i = 0; i < V; ++i) sums[k][i] = 0.0f;
    }
  }

  // A segment from `rows`; `first`: the strip's. `out` is the row of dx that step u = 0 completes; t and it advance. Edges are looked for
  // a group at a time, so that one boundary costs two groups at most.
  template <class Source>
  __device__ __forceinline__ void segment(const CausalConv1dBwdArgs& a, Source& rows, i64& t, X*& out, bool first) {
    STROP_UNROLL_BY(1)
    for (int i = 0; i < kSegment / R::kGroup; ++i) {
      rows.begin_group(row_stride<P>(a.x_row), row_stride<P>(a.dy_row), a.T);
      const bool no_row_before = first && i == 0;
      const bool inner = (P::packed == 0 || within(t, R::kGroup)) && (P::whole_blocks || t + R::kGroup <= a.T);
      if ((P::packed != 0 || !P::whole_blocks) && !inner) group<true>(a, rows, t, out, no_row_before);
      else group<false>(a, rows, t, out, no_row_before);
      out += R::kGroup * row_stride<P>(a.dx_row);
      t += R::kGroup;
    }
  }
  // kEdges: a sequence or the tensor may end among these rows.
  template <bool kEdges, class Source>
  __device__ __forceinline__ void group(const CausalConv1dBwdArgs& a, Source& rows, i64 t, X* out, bool no_row_before) {
    STROP_UNROLL
    for (int u = 0; u < R::kGroup; ++u) {
      if constexpr (kEdges && P::packed != 0) step(a, t + u, u);
      else if constexpr (P::packed != 0) age[u % kRing] = kHalo;
      take(u, rows.x(u), rows.dy(u), !kEdges || P::whole_blocks || t + u < a.T);
      rows.fetch(u, row_stride<P>(a.x_row), row_stride<P>(a.dy_row), a.T);
      add_to_sums(u);
      store_dx<kEdges>(out + u * row_stride<P>(a.dx_row), u, (u >= kHalo || !no_row_before) && (!kEdges || P::whole_blocks || t + u - kHalo < a.T));
    }
  }

  // The strip's last W-1 rows of dx need g of the rows after it, from t on.
  template <class Source>
  __device__ __forceinline__ void tail(const CausalConv1dBwdArgs& a, Source& rows, i64 t, X* out) {
    rows.begin_tail();
    if constexpr (P::packed != 0) {
      if (!within(t, kHalo)) return tail_of<true>(a, rows, t, out);
    }
    tail_of<false>(a, rows, t, out);
  }
  template <bool kEdges, class Source>
  __device__ __forceinline__ void tail_of(const CausalConv1dBwdArgs& a, Source& rows, i64 t, X* out) {
    STROP_UNROLL
    for (int u = 0; u < kHalo; ++u) {
      if constexpr (kEdges) step(a, t + u, u);
      take(u, rows.x(u), rows.dy(u), t + u < a.T);
      store_dx<kEdges>(out + u * row_stride<P>(a.dx_row), u, P::whole_blocks || t + u - kHalo < a.T);
    }
  }
};

// Where the partial of `unit` is, and whether another unit came before it there.
struct PartialOf {
  i64 row;
  bool second;
};
template <class P>
__device__ __forceinline__ PartialOf partial_of(const CausalConv1dBwdArgs& a, i64 unit) {
  const i64 half = (a.all_units + 1) / 2;
  if (P::paired && unit >= half) return {unit - half, true};
  return {unit, false};
}

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

// To the partial, or onto what the thread itself left there.
__device__ __forceinline__ void put(float* to, float value, bool add) { *to = add ? *to + value : value; }

template <class P>
__device__ __forceinline__ void store_unit(const CausalConv1dBwdArgs& a, const Backward<P>& b, i64 unit, i64 d) {
  const auto partial = partial_of<P>(a, unit);
  float* to = a.partial + partial.row * (Backward<P>::kSums * static_cast<i64>(P::D)) + d;
  STROP_UNROLL
  for (int k = 0; k < Backward<P>::kSums; ++k) {
    STROP_UNROLL
    for (int i = 0; i < P::vec; ++i) put(to + k * static_cast<i64>(P::D) + i, b.sums[k][i], partial.second);
  }
}

// The unit that the block's strips share, from shared memory to the partials.
template <class P>
__device__ __forceinline__ void store_shared_unit(const CausalConv1dBwdArgs& a, float* shared, i64 unit, i64 first_d) {
  using F = Fold<P>;
  constexpr int kValues = F::B::kSums * P::vec * F::kColumns;
  const auto partial = partial_of<P>(a, unit);
  for (int at = threadIdx.x; at < kValues; at += P::threads) {
    const int column = at % F::kColumns;
    const int i = at / F::kColumns % P::vec;
    const int k = at / F::kColumns / P::vec;
    const i64 d = first_d + column * P::vec + i;
    const float sum = (F::slot(shared, 0, k, i, column) + F::slot(shared, 1, k, i, column)) +
                      (F::slot(shared, 2, k, i, column) + F::slot(shared, 3, k, i, column));
    if (d < P::D) put(a.partial + (partial.row * F::B::kSums + k) * P::D + d, sum, partial.second);
  }
}

// One strip of whole units or of a part of one, from its first load to its last store.
template <class P, class Source>
__device__ __forceinline__ void strip(const CausalConv1dBwdArgs& a, Position at, i64 t0, unsigned char* staged, float* folded) {
  using B = Backward<P>;
  using X = typename B::X;
  B b;
  const bool exists = at.d < P::D;
  if (!exists) at.d = 0;
  b.d = at.d;
  StripStart<P> start;
  start.x = static_cast<const X*>(a.x) + at.sequence * a.x_sequence + t0 * row_stride<P>(a.x_row) + at.d * a.x_channel;
  start.dy = static_cast<const X*>(a.dy) + at.sequence * a.dy_sequence + t0 * row_stride<P>(a.dy_row) + at.d * a.dy_channel;
  start.t = t0;
  Source rows;
  rows.start(start, row_stride<P>(a.x_row), row_stride<P>(a.dy_row), a.T, staged);
  Pack<X, B::V> before[B::kHalo > 0 ? B::kHalo : 1];
  STROP_UNROLL
  for (int h = 0; h < B::kHalo; ++h)
    before[h] = load_pack_if<B::V, Load::read_only>(start.x + (h - B::kHalo) * row_stride<P>(a.x_row), t0 + h >= B::kHalo);
  b.taps.load(a.weight, a.bias, at.d, a.weight_channel, a.weight_tap);
  if constexpr (P::packed != 0) b.place.find(a.sequences, t0);
  else b.place.dense(at.sequence, a.T);
  if (P::packed != 0 && !exists) return;  // a lane past the channels, which looked for its warp's sequence
  STROP_UNROLL
  for (int h = 0; h < B::kHalo; ++h) before[h].widen(b.x[(h - B::kHalo + B::kRing) % B::kRing]);
  begin<P>(b.x, a.sequences, b.place, t0, at.d);
  b.clear_sums();
  X* out = static_cast<X*>(a.dx) + at.sequence * a.dx_sequence + (t0 - B::kHalo) * row_stride<P>(a.dx_row) + at.d * a.dx_channel;

  i64 t = t0;
  const i64 left = a.T - t0;
  const int segments = left >= a.rows ? static_cast<int>(a.rows / kSegment) : static_cast<int>((left + kSegment - 1) / kSegment);
  for (int s = 0; s < segments; ++s) {
    b.segment(a, rows, t, out, s == 0);
    if (Fold<P>::segment(folded, b, s)) store_unit<P>(a, b, at.sequence * a.units + (t0 + s * kSegment) / kUnit, at.d);
    b.clear_sums();
  }
  // Units that end before their fourth segment: the missing ones are 0.
  if constexpr (!P::whole_blocks && !Fold<P>::kShared) {
    for (int s = segments; s % kSegmentsOfUnit != 0; ++s)
      if (Fold<P>::segment(folded, b, s)) {
        store_unit<P>(a, b, at.sequence * a.units + (t0 + s * kSegment) / kUnit, at.d);
        b.clear_sums();
      }
  }
  b.tail(a, rows, t, out);
}

// The block's strips, at its place in the grid.
template <class P, class Source>
__device__ __forceinline__ void strips(const CausalConv1dBwdArgs& a, const Position& at, unsigned char* staged, float* folded) {
  using F = Fold<P>;
  const i64 t0 = (at.block_t * P::strips + threadIdx.x / F::kColumns) * a.rows;
  if constexpr (F::kShared) {
    for (int i = threadIdx.x; i < F::kFloats; i += P::threads) folded[i] = 0.0f;  // segments that no strip reaches
    __syncthreads();
  }
  if ((P::packed != 0 || at.d < P::D) && t0 < a.T) strip<P, Source>(a, at, t0, staged, folded);
  if constexpr (F::kShared) {
    __syncthreads();
    store_shared_unit<P>(a, folded, at.sequence * a.units + at.block_t, at.d - threadIdx.x % F::kColumns * P::vec);
  }
}

template <class P>
__device__ __forceinline__ void stripped(const CausalConv1dBwdArgs& a) {
  using F = Fold<P>;
  using Source = typename Either<P::staging == static_cast<int>(Staging::ring), RingRows<P>, RegisterRows<P>>::Type;
  STROP_SHARED(float, folded, F::kFloats);
  STROP_SHARED(unsigned char, staged, Source::kSharedBytes > 0 ? Source::kSharedBytes : 1);
  auto at = position<P::vec>(threadIdx.x % F::kColumns, F::kColumns, a.blocks_d, a.blocks_t);
  strips<P, Source>(a, at, staged, folded);
  if constexpr (P::paired) {  // a block's strips are one unit then
    const i64 unit = at.sequence * a.units + at.block_t + (a.all_units + 1) / 2;
    if (unit >= a.all_units) return;
    at.sequence = divide(static_cast<u32>(unit), a.blocks_t);
    at.block_t = unit - at.sequence * a.units;
    __syncthreads();
    strips<P, Source>(a, at, staged, folded);
  }
}

// A unit at a time, staged whole in shared memory; warp w has segment w.
template <class P>
struct Tiled {
  using B = Backward<P>;
  using X = typename B::X;
  using Staged = Tile<P>;
  static constexpr int kValues = B::kSums * Staged::kColumns;  // of a unit
  static constexpr int kOwn = (kValues + P::threads - 1) / P::threads;

  __device__ __forceinline__ static void fill(const CausalConv1dBwdArgs& a, unsigned char* tile, i64 unit, i64 first_d) {
    const i64 sequence = divide(static_cast<u32>(unit), a.blocks_t);
    const i64 t = (unit - sequence * a.units) * kUnit;
    const X* x = static_cast<const X*>(a.x) + sequence * a.x_sequence + t * row_stride<P>(a.x_row) + first_d;
    const X* dy = static_cast<const X*>(a.dy) + sequence * a.dy_sequence + t * row_stride<P>(a.dy_row) + first_d;
    Staged::fill(tile, x, dy, row_stride<P>(a.x_row), row_stride<P>(a.dy_row), t, a.T, static_cast<int>(P::D - first_d));
  }

  // Where the warp's segment of a unit begins.
  struct Begin {
    i64 sequence, t;
  };
  __device__ __forceinline__ static Begin begin_of(const CausalConv1dBwdArgs& a, i64 unit) {
    const i64 sequence = divide(static_cast<u32>(unit), a.blocks_t);
    return {sequence, (unit - sequence * a.units) * kUnit + threadIdx.x / 32 * kSegment};
  }
  // While the tile is on its way.
  __device__ __forceinline__ static void find(const CausalConv1dBwdArgs& a, B& b, i64 unit) {
    const auto at = begin_of(a, unit);
    if constexpr (P::packed != 0) {
      if (at.t < a.T) b.place.find(a.sequences, at.t);
    } else {
      b.place.dense(at.sequence, a.T);
    }
  }

  __device__ __forceinline__ static void segment(const CausalConv1dBwdArgs& a, B& b, const unsigned char* tile, i64 unit) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const auto at = begin_of(a, unit);
    i64 t = at.t;
    b.clear_sums();
    if (b.d >= P::D || t >= a.T) return;
    TileRows<P> rows;
    rows.start(tile, warp * kSegment, lane);
    STROP_UNROLL
    for (int h = 0; h < B::kHalo; ++h) {
      const unsigned char* row = tile + (warp * kSegment + h) * Staged::kRowBytes + lane * B::R::RowPack::kBytes;
      load_pack<B::V>(reinterpret_cast<const X*>(row)).widen(b.x[(h - B::kHalo + B::kRing) % B::kRing]);
    }
    begin<P>(b.x, a.sequences, b.place, t, b.d);
    X* out = static_cast<X*>(a.dx) + at.sequence * a.dx_sequence + (t - B::kHalo) * row_stride<P>(a.dx_row) + b.d * a.dx_channel;
    b.segment(a, rows, t, out, true);
    b.tail(a, rows, t, out);
  }

  // Adds the unit that the warps' sums make to `total`: this thread's share of the block's channels and taps.
  __device__ __forceinline__ static void fold(float* shared, const B& b, float (&total)[kOwn], bool add) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    STROP_UNROLL
    for (int k = 0; k < B::kSums; ++k) store(shared + (warp * B::kSums + k) * Staged::kColumns + lane * B::V, b.sums[k]);
    __syncthreads();
    STROP_UNROLL
    for (int j = 0; j < kOwn; ++j) {
      const int at = threadIdx.x + j * P::threads;
      if (kValues % P::threads != 0 && at >= kValues) continue;
      const float unit = (shared[at] + shared[kValues + at]) + (shared[2 * kValues + at] + shared[3 * kValues + at]);
      total[j] = add ? total[j] + unit : unit;
    }
  }

  __device__ __forceinline__ static void run(const CausalConv1dBwdArgs& a) {
    STROP_DYNAMIC_SHARED(unsigned char, tile);
    const u32 partial = divide(blockIdx.x, a.blocks_d);
    const i64 first_d = static_cast<i64>(blockIdx.x - partial * a.blocks_d.value) * Staged::kColumns;
    B b;
    b.d = first_d + threadIdx.x % 32 * B::V;
    fill(a, tile, partial, first_d);
    if (b.d < P::D) b.taps.load(a.weight, a.bias, b.d, a.weight_channel, a.weight_tap);
    float total[kOwn];
    i64 unit = partial;
    STROP_UNROLL_BY(1)
    for (int k = 0; k < (P::paired ? 2 : 1); ++k) {
      find(a, b, unit);
      copy_async_wait<0>();
      __syncthreads();
      segment(a, b, tile, unit);
      __syncthreads();  // before the tile's memory serves the fold
      fold(reinterpret_cast<float*>(tile), b, total, k > 0);
      unit += (a.all_units + 1) / 2;
      if (!P::paired || k > 0 || unit >= a.all_units) break;
      __syncthreads();
      fill(a, tile, unit, first_d);
    }
    STROP_UNROLL
    for (int j = 0; j < kOwn; ++j) {
      const int at = threadIdx.x + j * P::threads;
      if (kValues % P::threads != 0 && at >= kValues) continue;
      const i64 channel = first_d + at % Staged::kColumns;
      if (channel < P::D) a.partial[(partial * static_cast<i64>(B::kSums) + at / Staged::kColumns) * P::D + channel] = total[j];
    }
  }
};

}  // namespace causal_conv1d

template <class P>
__device__ void causal_conv1d_bwd(const CausalConv1dBwdArgs& a) {
  if constexpr (P::staging == static_cast<int>(causal_conv1d::Staging::tile)) causal_conv1d::Tiled<P>::run(a);
  else causal_conv1d::stripped<P>(a);
}

}  // namespace strop
