#pragma once

#include "wrappers/args.cuh"

namespace strop::conformance {

struct MatrixParams {
  static constexpr int threads = 32;
  static constexpr bool half = false;
};
template <bool Half>
struct MatrixType {
  using Type = bf16;
};
template <>
struct MatrixType<true> {
  using Type = fp16;
};

// in: 8 words A, 4 words B, 4 words D a lane, as the lanes hold them (two multiplies); out: 4 words D.
template <class P>
__device__ void matrix(const Args& a) {
  using T = typename MatrixType<P::half>::Type;
  const int t = threadIdx.x;
  const u32* in = a.in + 16 * t;
  const u32 a0[4] = {in[0], in[1], in[2], in[3]}, a1[4] = {in[4], in[5], in[6], in[7]};
  const u32 b0[2] = {in[8], in[9]}, b1[2] = {in[10], in[11]};
  float d[4];
  for (int i = 0; i < 4; ++i) d[i] = __uint_as_float(in[12 + i]);
  mma_m16n8k16<T>(d, a0, b0);
  mma_m16n8k16<T>(d, a1, b1);
  for (int i = 0; i < 4; ++i) a.out[4 * t + i] = __float_as_uint(d[i]);
}

struct LdmatrixParams {
  static constexpr int threads = 32;
  static constexpr int matrices = 4;
  static constexpr bool transposed = false;
};

// Rows of 32 bytes apart 48, so that a wrong pitch shows.
template <class P>
__device__ void matrix_load(const Args& a) {
  STROP_SHARED(u16, rows, 32 * 24);
  const int t = threadIdx.x;
  for (int i = t; i < 32 * 24; i += 32) rows[i] = static_cast<u16>(a.in[i]);
  __syncwarp();
  u32 r[P::matrices];
  ldmatrix<P::matrices, P::transposed>(r, rows + 24 * (t % (8 * P::matrices)));
  for (int i = 0; i < P::matrices; ++i) a.out[P::matrices * t + i] = r[i];
}

struct WgmmaParams {
  static constexpr int threads = 128;
  static constexpr bool half = false;
};

// in: A [64][32], B [8][32] as 2-byte elements in the low half of a word, row by row; out: D [64][8].
template <class P>
__device__ void warpgroup_matrix(const Args& a) {
  using T = typename MatrixType<P::half>::Type;
  STROP_SHARED(u16, left, 64 * 32);
  STROP_SHARED(u16, right, 8 * 32);
  const int t = threadIdx.x;
  // Core matrices of 8 rows by 8 elements: along K first, 128 bytes apart, then along the rows, 512 bytes apart.
  auto place = [](int row, int k) { return row / 8 * 256 + k / 8 * 64 + row % 8 * 8 + k % 8; };
  for (int i = t; i < 64 * 32; i += P::threads) left[place(i / 32, i % 32)] = static_cast<u16>(a.in[i]);
  for (int i = t; i < 8 * 32; i += P::threads) right[place(i / 32, i % 32)] = static_cast<u16>(a.in[64 * 32 + i]);
  async_proxy_fence();
  __syncthreads();
  float d[4] = {0.0f, 0.0f, 0.0f, 0.0f};
  wgmma_fence();
  for (int k = 0; k < 32; k += 16) {
    const WgmmaOperand l{left + k / 8 * 64, 128, 512}, r{right + k / 8 * 64, 128, 512};
    wgmma_m64n8k16<T>(d, l, r);
  }
  wgmma_commit();
  wgmma_wait<0>(d);
  for (int e = 0; e < 4; ++e) {
    const int row = t / 32 * 16 + t % 32 / 4 + e / 2 * 8, column = t % 4 * 2 + e % 2;
    a.out[row * 8 + column] = __float_as_uint(d[e]);
  }
}

}  // namespace strop::conformance
