#pragma once

// Where the backward's rows come from. A thread asks for the rows of x and dy that follow each other, a group at a time; the three
// sources differ in who brings them and how far ahead. Rows past the end of the sequence come as 0 or, where the caller says that
// groups are wholly inside or outside, as anything: what is made of them is not used.
//
//   registers  the next group is loaded into registers while this one is used: any alignment
//   ring       thread-private cp.async, `kStages` groups deep, no barrier: 4 bytes or more a thread and row
//   tile       the block's rows in shared memory, brought whole by cp.async of 16 bytes before the arithmetic

#include "causal_conv1d/sequences.cuh"

namespace strop::causal_conv1d {

template <bool First, class A, class B>
struct Either {
  using Type = A;
};
template <class A, class B>
struct Either<false, A, B> {
  using Type = B;
};

enum class Staging { registers = 0, ring = 1, tile = 2 };

template <class P>
struct Rows {
  using X = Storage<P::x_type>;
  static constexpr int V = P::vec, W = P::W, kHalo = W - 1, kRing = ring_slots(W);
  static constexpr int kGroup = kRing < 4 ? 4 : kRing;  // a multiple of the ring
  using RowPack = Pack<X, V>;
};

template <class P>
constexpr int kPieceRows = 128 << P::level;

// What a strip begins at: its first row in memory and in time.
template <class P>
struct StripStart {
  using X = typename Rows<P>::X;
  const X* x;
  const X* dy;
  i64 t;
};

template <class P>
struct RegisterRows {
  using R = Rows<P>;
  using X = typename R::X;
  static constexpr int kSharedBytes = 0;

  typename R::RowPack next_x[R::kGroup];
  typename R::RowPack next_dy[R::kGroup];
  const X* px;  // row 0 of the group that is fetched next
  const X* pdy;
  i64 t;

  __device__ __forceinline__ void start(const StripStart<P>& at, i64 x_row, i64 dy_row, i64 T, unsigned char*) {
    px = at.x;
    pdy = at.dy;
    t = at.t;
    STROP_UNROLL
    for (int u = 0; u < R::kGroup; ++u) fetch(u, x_row, dy_row, T);
  }
  // Before the rows of a group are taken.
  __device__ __forceinline__ void begin_group(i64 x_row, i64 dy_row, i64 T) {
    px += R::kGroup * x_row;
    pdy += R::kGroup * dy_row;
    t += R::kGroup;
    // A group wholly past the end is read from the rows before it instead: what it holds is not used.
    if (P::whole_blocks && t >= T) {
      px -= R::kGroup * x_row;
      pdy -= R::kGroup * dy_row;
    }
  }
  __device__ __forceinline__ typename R::RowPack x(int u) const { return next_x[u]; }
  __device__ __forceinline__ typename R::RowPack dy(int u) const { return next_dy[u]; }
  // After row u of the group was taken.
  __device__ __forceinline__ void fetch(int u, i64 x_row, i64 dy_row, i64 T) {
    if constexpr (P::whole_blocks) {
      next_x[u] = load_pack<R::V, Load::read_only>(px + u * x_row);
      next_dy[u] = load_pack<R::V, Load::read_only>(pdy + u * dy_row);
    } else {
      next_x[u] = load_pack_if<R::V, Load::read_only>(px + u * x_row, t + u < T);
      next_dy[u] = load_pack_if<R::V, Load::read_only>(pdy + u * dy_row, t + u < T);
    }
  }
  // Before the rows after the last group are taken.
  __device__ __forceinline__ void begin_tail() {}
};

template <class P>
struct RingRows {
  using R = Rows<P>;
  using X = typename R::X;
  static constexpr int kStages = 3;
  static constexpr int kBytes = R::RowPack::kBytes;
  static constexpr int kRowBytes = kBytes * P::threads;
  static constexpr int kStageBytes = 2 * R::kGroup * kRowBytes;
  static constexpr int kSharedBytes = kStages * kStageBytes;

  unsigned char* base;  // this thread's slot of the first row
  unsigned char* filled;
  unsigned char* used;
  const X* px;
  const X* pdy;
  i64 t;

  __device__ __forceinline__ unsigned char* after(unsigned char* stage) const {
    stage += kStageBytes;
    return stage >= base + kSharedBytes ? base : stage;
  }
  __device__ __forceinline__ void issue(i64 x_row, i64 dy_row, i64 T) {
    if (!P::whole_blocks || t < T) {  // past the end zeros, or, after whole pieces, what is not used
      STROP_UNROLL
      for (int u = 0; u < R::kGroup; ++u) {
        const int bytes = P::whole_blocks || t + u < T ? kBytes : 0;
        copy_async<kBytes>(filled + 2 * u * kRowBytes, px + u * x_row, bytes);
        copy_async<kBytes>(filled + (2 * u + 1) * kRowBytes, pdy + u * dy_row, bytes);
      }
    }
    copy_async_commit();
    px += R::kGroup * x_row;
    pdy += R::kGroup * dy_row;
    t += R::kGroup;
    filled = after(filled);
  }
  __device__ __forceinline__ void start(const StripStart<P>& at, i64 x_row, i64 dy_row, i64 T, unsigned char* shared) {
    base = shared + threadIdx.x * kBytes;
    filled = base;
    used = base + (kStages - 1) * kStageBytes;  // `begin_group` steps first
    px = at.x;
    pdy = at.dy;
    t = at.t;
    STROP_UNROLL
    for (int stage = 0; stage < kStages - 1; ++stage) issue(x_row, dy_row, T);
  }
  __device__ __forceinline__ void begin_group(i64 x_row, i64 dy_row, i64 T) {
    issue(x_row, dy_row, T);
    copy_async_wait<kStages - 1>();
    used = after(used);
  }
  __device__ __forceinline__ typename R::RowPack row(int at) const {
    return load_pack<R::V>(reinterpret_cast<const X*>(used + at * kRowBytes));
  }
  __device__ __forceinline__ typename R::RowPack x(int u) const { return row(2 * u); }
  __device__ __forceinline__ typename R::RowPack dy(int u) const { return row(2 * u + 1); }
  __device__ __forceinline__ void fetch(int, i64, i64, i64) {}
  __device__ __forceinline__ void begin_tail() {
    copy_async_wait<0>();
    used = after(used);
  }
};

// The block's rows: a piece's with their halo, kColumns channels wide.
template <class P>
struct Tile {
  using R = Rows<P>;
  using X = typename R::X;
  static constexpr int kSegments = kPieceRows<P> / 32;
  static constexpr int kLanes = P::threads / kSegments;  // threads side by side along the channels
  static constexpr int kColumns = kLanes * P::vec;
  static constexpr int kRowBytes = kColumns * static_cast<int>(sizeof(X));
  static constexpr int kXRows = kPieceRows<P> + 2 * R::kHalo, kDyRows = kPieceRows<P> + R::kHalo;
  static constexpr int kBytes = (kXRows + kDyRows) * kRowBytes;
  static constexpr int kChunk = 16 / static_cast<int>(sizeof(X));  // elements of one copy
  static constexpr int kChunks = kColumns / kChunk;                // of a row
  static_assert(P::threads % kChunks == 0, "a round of copies is whole rows");

  // `x` and `dy` are row t of the block's first channel; `columns` of the block's exist. Ends with the group committed.
  __device__ __forceinline__ static void fill(unsigned char* tile, const X* x, const X* dy, i64 x_row, i64 dy_row, i64 t, i64 T, int columns) {
    const int chunk = threadIdx.x % kChunks;
    constexpr int kRound = P::threads / kChunks;
    const bool exists = chunk * kChunk < columns;
    unsigned char* to = tile + chunk * 16;
    const int first = threadIdx.x / kChunks;
    const X* from_x = x + (first - R::kHalo) * x_row + chunk * kChunk;
    const X* from_dy = dy + first * dy_row + chunk * kChunk;
    STROP_UNROLL_BY(4)
    for (int r = first; r < kXRows; r += kRound) {
      const i64 at = t + r - R::kHalo;
      copy_async<16>(to + r * kRowBytes, from_x, exists && at >= 0 && at < T ? 16 : 0);
      if (r < kDyRows) copy_async<16>(to + (kXRows + r) * kRowBytes, from_dy, exists && t + r < T ? 16 : 0);
      from_x += kRound * x_row;
      from_dy += kRound * dy_row;
    }
    copy_async_commit();
  }
};

template <class P>
struct TileRows {
  using R = Rows<P>;
  using X = typename R::X;
  using T_ = Tile<P>;

  const unsigned char* px;  // this thread's channels of row 0 of the group
  const unsigned char* pdy;

  // `row` is the strip's first row in the tile. `begin_group` steps first.
  __device__ __forceinline__ void start(const unsigned char* tile, int row, int lane) {
    px = tile + (R::kHalo + row - R::kGroup) * T_::kRowBytes + lane * R::RowPack::kBytes;
    pdy = tile + (T_::kXRows + row - R::kGroup) * T_::kRowBytes + lane * R::RowPack::kBytes;
  }
  __device__ __forceinline__ void begin_group(i64, i64, i64) {
    px += R::kGroup * T_::kRowBytes;
    pdy += R::kGroup * T_::kRowBytes;
  }
  __device__ __forceinline__ typename R::RowPack x(int u) const {
    return load_pack<R::V>(reinterpret_cast<const X*>(px + u * T_::kRowBytes));
  }
  __device__ __forceinline__ typename R::RowPack dy(int u) const {
    return load_pack<R::V>(reinterpret_cast<const X*>(pdy + u * T_::kRowBytes));
  }
  __device__ __forceinline__ void fetch(int, i64, i64, i64) {}
  __device__ __forceinline__ void begin_tail() { begin_group(0, 0, 0); }
};

}  // namespace strop::causal_conv1d
