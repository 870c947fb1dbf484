#pragma once

// dx, and partial sums of dw and db. A thread has `vec` channels and a strip of rows; x, dy and g = dy * act'(pre) live in rings
// of registers; bwd_rows.cuh says where the rows come from.
//
// The order of summation of dw and db is part of the contract and the same whatever the config: a segment is 32 rows, summed in order
// of t by fused multiply-adds from 0; a piece is the 4 * 2^level segments of 128 * 2^level rows of one sequence, added as a tree,
// neighbours first: ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + ...), those past the end being 0. A partial is a piece or, `paired`, the sum of
// pieces p and p + (pieces + 1) / 2 of all sequences, if there is the second. `level` and `paired` follow from the size of the problem.
// Partials go to memory, [partial][tap][D], and dw_reduce.cuh adds them.
//
// A block makes one partial of its channels. Designs (`staging`): in `registers` and `ring` the threads of `strips` strips, one behind
// the other in time, share a piece; a thread adds its own segments in slots of shared memory (registers are what this kernel has least
// of). In `tile` all rows of a piece lie in shared memory, and a thread has one segment.

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
  Divisor blocks_d;  // of the threads side by side * vec channels
  Divisor blocks_t;  // pieces of a sequence
  i64 partials, pieces;
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
  static constexpr bool whole_blocks = false;  // T is a multiple of the rows of a piece
  static constexpr int level = 0;              // a piece is of 128 * 2^level rows
  static constexpr bool paired = false;        // a partial is two pieces
  static constexpr int max_vec = 1;
  static constexpr bool packed_taps = false;
  // Tunable:
  static constexpr int staging = 0;  // causal_conv1d::Staging
  static constexpr int vec = 1, threads = 128, min_blocks = 1;
  static constexpr int strips = 4;  // that make a piece together
};

namespace causal_conv1d {

constexpr int kSegment = 32;

// The sum of N neighbours, as the order of summation wants it.
template <int N>
__device__ __forceinline__ float tree(float (&v)[N]) {
  STROP_UNROLL
  for (int left = N / 2; left > 0; left /= 2) {
    STROP_UNROLL
    for (int i = 0; i < left; ++i) v[i] = v[2 * i] + v[2 * i + 1];
  }
  return v[0];
}

// Where the pieces of a partial begin.
struct Piece {
  i64 sequence, t;
};
template <class P>
__device__ __forceinline__ Piece piece_of(const CausalConv1dBwdArgs& a, i64 piece) {
  const u32 sequence = divide(static_cast<u32>(piece), a.blocks_t);
  return {static_cast<i64>(sequence), (piece - static_cast<i64>(sequence) * a.blocks_t.value) * kPieceRows<P>};
}

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

// Where a strip's segments meet, [depth][sum][channel of the thread][thread], neighbouring threads,
// neighbouring banks; and then the strips, [strip][sum][column][channel], as the partial has them.
template <class P>
struct Fold {
  using B = Backward<P>;
  static constexpr int kStripRows = kPieceRows<P> / P::strips;
  static constexpr int kSegments = kStripRows / kSegment;          // of a strip
  static constexpr int kColumns = P::threads / P::strips;          // threads side by side along the channels
  static constexpr int kOfColumn = B::kSums * B::V;
  __device__ static constexpr int depth() {
    int depth = 0;
    while ((1 << depth) < kSegments) ++depth;
    return depth;
  }
  static constexpr int kDepth = depth();
  static constexpr int kSlotBytes = kDepth * kOfColumn * P::threads * 4;
  static_assert(kStripRows % kSegment == 0, "a strip is whole segments");

  // Segment `s` of the strip is complete: as a binary counter, so that the last one's leaves the strip's sum.
  __device__ __forceinline__ static void segment(float* slots, B& b, int s) {
    STROP_UNROLL
    for (int j = 0; j < kDepth; ++j) {
      float* slot = slots + j * kOfColumn * P::threads + threadIdx.x;
      const bool carry = (s >> j) % 2 != 0;
      STROP_UNROLL
      for (int k = 0; k < B::kSums; ++k) {
        STROP_UNROLL
        for (int i = 0; i < B::V; ++i) {
          float& there = slot[(k * B::V + i) * P::threads];
          if (carry) b.sums[k][i] = there + b.sums[k][i];
          else there = b.sums[k][i];
        }
      }
      if (!carry) return;
    }
  }
};

// One strip from its first load to its last store; its sums of dw are left in `b`.
template <class P, class Source>
__device__ __forceinline__ void strip(const CausalConv1dBwdArgs& a, i64 sequence, i64 d, i64 t0, unsigned char* staged, float* slots, Backward<P>& b) {
  using B = Backward<P>;
  using X = typename B::X;
  const bool exists = d < P::D;
  if (!exists) d = 0;
  b.d = d;
  StripStart<P> start;
  start.x = static_cast<const X*>(a.x) + sequence * a.x_sequence + t0 * row_stride<P>(a.x_row) + d * a.x_channel;
  start.dy = static_cast<const X*>(a.dy) + sequence * a.dy_sequence + t0 * row_stride<P>(a.dy_row) + d * a.dy_channel;
  start.t = t0;
  Source rows;
  rows.start(start, row_stride<P>(a.x_row), row_stride<P>(a.dy_row), a.T, staged);
  Pack<X, B::V> before[B::kHalo > 0 ? B::kHalo : 1];
  STROP_UNROLL
  for (int h = 0; h < B::kHalo; ++h)
    before[h] = load_pack_if<B::V, Load::read_only>(start.x + (h - B::kHalo) * row_stride<P>(a.x_row), t0 + h >= B::kHalo);
  b.taps.load(a.weight, a.bias, d, a.weight_channel, a.weight_tap);
  if constexpr (P::packed != 0) b.place.find(a.sequences, t0);
  else b.place.dense(sequence, a.T);
  if (P::packed != 0 && !exists) {  // a lane past the channels, which looked for its warp's sequence
    rows.begin_tail();              // its copies must not land where sums are by then
    return;
  }
  STROP_UNROLL
  for (int h = 0; h < B::kHalo; ++h) before[h].widen(b.x[(h - B::kHalo + B::kRing) % B::kRing]);
  begin<P>(b.x, a.sequences, b.place, t0, d);
  X* out = static_cast<X*>(a.dx) + sequence * a.dx_sequence + (t0 - B::kHalo) * row_stride<P>(a.dx_row) + d * a.dx_channel;

  constexpr int kSegments = Fold<P>::kSegments;
  i64 t = t0;
  int segments = kSegments;
  if constexpr (!P::whole_blocks) segments = static_cast<int>(min(static_cast<i64>(kSegments), (a.T - t0 + kSegment - 1) / kSegment));
  for (int s = 0; s < segments; ++s) {
    if (s > 0) b.clear_sums();
    b.segment(a, rows, t, out, s == 0);
    Fold<P>::segment(slots, b, s);
  }
  b.tail(a, rows, t, out);
  // A strip that ends early: the segments that are missing are 0.
  if constexpr (!P::whole_blocks) {
    for (int s = segments; s < kSegments; ++s) {
      b.clear_sums();
      Fold<P>::segment(slots, b, s);
    }
  }
}

template <class P>
__device__ __forceinline__ float* partial_of(const CausalConv1dBwdArgs& a, i64 partial, int k, i64 d) {
  return a.partial + (partial * Backward<P>::kSums + k) * static_cast<i64>(P::D) + d;
}
// To the partial, or onto what the thread itself left there.
__device__ __forceinline__ void put(float* to, float value, bool add) { *to = add ? *to + value : value; }

// The block's strips of a piece, and what they add to the partial.
template <class P, class Source>
__device__ __forceinline__ void strips(const CausalConv1dBwdArgs& a, unsigned char* shared, i64 piece, i64 partial, i64 first_d) {
  using B = Backward<P>;
  using F = Fold<P>;
  constexpr int kChannels = F::kColumns * P::vec, kValues = B::kSums * kChannels;
  const int column = threadIdx.x % F::kColumns, own = threadIdx.x / F::kColumns;
  const auto begins = piece_of<P>(a, piece);
  const i64 d = first_d + column * P::vec;
  const i64 t0 = begins.t + static_cast<i64>(own) * F::kStripRows;
  const bool add = P::paired && piece != partial;
  B b;
  b.clear_sums();
  if ((P::packed != 0 || d < P::D) && (P::whole_blocks || t0 < a.T))
    strip<P, Source>(a, begins.sequence, d, t0, shared + F::kSlotBytes, reinterpret_cast<float*>(shared), b);
  float* meeting = reinterpret_cast<float*>(shared);
  __syncthreads();  // slots and rows are no longer in use
  STROP_UNROLL
  for (int k = 0; k < B::kSums; ++k) {
    STROP_UNROLL
    for (int i = 0; i < P::vec; ++i) meeting[own * kValues + (k * F::kColumns + column) * P::vec + i] = b.sums[k][i];
  }
  __syncthreads();
  for (int v = threadIdx.x; v < kValues; v += P::threads) {
    float sums[P::strips];
    STROP_UNROLL
    for (int s = 0; s < P::strips; ++s) sums[s] = meeting[s * kValues + v];
    if (first_d + v % kChannels < P::D) put(partial_of<P>(a, partial, v / kChannels, first_d + v % kChannels), tree(sums), add);
  }
}

template <class P>
__device__ __forceinline__ void stripped(const CausalConv1dBwdArgs& a) {
  using Source = typename Either<P::staging == static_cast<int>(Staging::ring), RingRows<P>, RegisterRows<P>>::Type;
  STROP_DYNAMIC_SHARED(unsigned char, shared);
  const u32 partial = divide(blockIdx.x, a.blocks_d);
  const i64 first_d = static_cast<i64>(blockIdx.x - partial * a.blocks_d.value) * Fold<P>::kColumns * P::vec;
  strips<P, Source>(a, shared, partial, partial, first_d);
  if constexpr (P::paired) {
    if (partial + a.partials >= a.pieces) return;
    __syncthreads();  // the memory of this piece serves the next
    strips<P, Source>(a, shared, partial + a.partials, partial, first_d);
  }
}

// A piece's rows staged whole in shared memory, a segment for each kLanes threads.
template <class P>
struct Tiled {
  using B = Backward<P>;
  using X = typename B::X;
  using Staged = Tile<P>;
  static constexpr int kLanes = Staged::kLanes, kSegments = Staged::kSegments;
  static constexpr int kValues = B::kSums * Staged::kColumns;  // of a piece
  static constexpr int kOwn = (kValues + P::threads - 1) / P::threads;
  static_assert(kSegments * kValues * 4 <= Staged::kBytes, "the sums meet where the rows were");

  __device__ __forceinline__ static void fill(const CausalConv1dBwdArgs& a, unsigned char* tile, i64 piece, i64 first_d) {
    const auto [sequence, t] = piece_of<P>(a, piece);
    const X* x = static_cast<const X*>(a.x) + sequence * a.x_sequence + t * row_stride<P>(a.x_row) + first_d;
    const X* dy = static_cast<const X*>(a.dy) + sequence * a.dy_sequence + t * row_stride<P>(a.dy_row) + first_d;
    Staged::fill(tile, x, dy, row_stride<P>(a.x_row), row_stride<P>(a.dy_row), t, a.T, static_cast<int>(P::D - first_d));
  }

  // Where the thread's segment of a piece begins.
  __device__ __forceinline__ static Piece begin_of(const CausalConv1dBwdArgs& a, i64 piece) {
    auto at = piece_of<P>(a, piece);
    at.t += threadIdx.x / kLanes * kSegment;
    return at;
  }
  // While the tile is on its way. A warp's lanes look together for each of its segments.
  __device__ __forceinline__ static void find(const CausalConv1dBwdArgs& a, B& b, i64 piece) {
    if constexpr (P::packed != 0) {
      constexpr int kOfWarp = kLanes < 32 ? 32 / kLanes : 1;
      const int own = static_cast<int>(threadIdx.x) / kLanes, first = own / kOfWarp * kOfWarp;
      const i64 t = piece_of<P>(a, piece).t;
      STROP_UNROLL
      for (int s = 0; s < kOfWarp; ++s) {
        const i64 row = t + (first + s) * kSegment;
        if (row >= a.T) break;
        Place<P> place;
        place.find(a.sequences, row);
        if (first + s == own) b.place = place;
      }
    } else {
      b.place.dense(piece_of<P>(a, piece).sequence, a.T);
    }
  }

  __device__ __forceinline__ static void segment(const CausalConv1dBwdArgs& a, B& b, const unsigned char* tile, i64 piece) {
    const int lane = threadIdx.x % kLanes, row = static_cast<int>(threadIdx.x) / kLanes * kSegment;
    auto [sequence, t] = begin_of(a, piece);
    b.clear_sums();
    if (b.d >= P::D || (!P::whole_blocks && t >= a.T)) return;
    TileRows<P> rows;
    rows.start(tile, row, lane);
    STROP_UNROLL
    for (int h = 0; h < B::kHalo; ++h) {
      const unsigned char* before = tile + (row + h) * Staged::kRowBytes + lane * B::R::RowPack::kBytes;
      load_pack<B::V>(reinterpret_cast<const X*>(before)).widen(b.x[(h - B::kHalo + B::kRing) % B::kRing]);
    }
    begin<P>(b.x, a.sequences, b.place, t, b.d);
    X* out = static_cast<X*>(a.dx) + sequence * a.dx_sequence + (t - B::kHalo) * row_stride<P>(a.dx_row) + b.d * a.dx_channel;
    b.segment(a, rows, t, out, true);
    b.tail(a, rows, t, out);
  }

  __device__ __forceinline__ static void run(const CausalConv1dBwdArgs& a) {
    STROP_DYNAMIC_SHARED(unsigned char, tile);
    const u32 partial = divide(blockIdx.x, a.blocks_d);
    const i64 first_d = static_cast<i64>(blockIdx.x - partial * a.blocks_d.value) * Staged::kColumns;
    B b;
    b.d = first_d + threadIdx.x % kLanes * B::V;
    i64 piece = partial;
    fill(a, tile, piece, first_d);
    if (b.d < P::D) b.taps.load(a.weight, a.bias, b.d, a.weight_channel, a.weight_tap);
    float total[kOwn];
    STROP_UNROLL_BY(1)
    for (int which = 0; which < (P::paired ? 2 : 1); ++which) {
      find(a, b, piece);
      copy_async_wait<0>();
      __syncthreads();
      segment(a, b, tile, piece);
      __syncthreads();  // before the tile's memory serves the sums
      fold(reinterpret_cast<float*>(tile), b, total, which > 0);
      piece += a.partials;
      if (!P::paired || which > 0 || piece >= a.pieces) break;
      __syncthreads();
      fill(a, tile, piece, first_d);
    }
    STROP_UNROLL
    for (int j = 0; j < kOwn; ++j) {
      const int v = threadIdx.x + j * P::threads;
      if (kValues % P::threads != 0 && v >= kValues) continue;
      const i64 d = first_d + v % Staged::kColumns;
      if (d < P::D) *partial_of<P>(a, partial, v / Staged::kColumns, d) = total[j];
    }
  }

  // Adds the piece that the threads' sums make to `total`: this thread's share of the block's channels and taps.
  __device__ __forceinline__ static void fold(float* meeting, const B& b, float (&total)[kOwn], bool add) {
    const int lane = threadIdx.x % kLanes, own = threadIdx.x / kLanes;
    STROP_UNROLL
    for (int k = 0; k < B::kSums; ++k) store(meeting + (own * B::kSums + k) * Staged::kColumns + lane * B::V, b.sums[k]);
    __syncthreads();
    STROP_UNROLL
    for (int j = 0; j < kOwn; ++j) {
      const int v = threadIdx.x + j * P::threads;
      if (kValues % P::threads != 0 && v >= kValues) continue;
      float segments[kSegments];
      STROP_UNROLL
      for (int s = 0; s < kSegments; ++s) segments[s] = meeting[s * kValues + v];
      const float sum = tree(segments);
      total[j] = add ? total[j] + sum : sum;
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
