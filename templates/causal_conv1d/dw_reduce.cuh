#pragma once

// Adds the backward's partials (bwd.cuh): dw[d,k] = sum over p of partial[p][k][d], db[d] likewise from the row after the taps. The order is
// part of the contract and the same whatever the config: 32 chains, chain c taking partials c, c+32, ... in turn; then a tree, chain c plus
// chain c+16, then +8, +4, +2, +1. `split` threads share a column's chains.

#include "causal_conv1d/common.cuh"

namespace strop {

struct CausalConv1dDwReduceArgs {
  const float* partial;  // [partials][W + bias][D]
  void* dw;              // [D][W]
  void* db;              // [D]
  i64 partials;
  u32 lanes;             // columns / vec a block has: threads of the launch / split
};

struct CausalConv1dDwReduceParams {
  static constexpr int D = 64, W = 4;
  static constexpr int weight_type = 0;
  static constexpr bool bias = false;
  // Tunable:
  static constexpr int vec = 1, split = 8;
  static constexpr int threads = 512;  // at most; the launch may have fewer
};

template <class P>
__device__ __forceinline__ void store_column(const CausalConv1dDwReduceArgs& a, i64 column, float sum) {
  using Stored = causal_conv1d::Storage<P::weight_type>;
  const i64 k = column / P::D;
  const i64 d = column % P::D;
  if (P::bias && k == P::W) static_cast<Stored*>(a.db)[d] = from_float<Stored>(sum);
  else static_cast<Stored*>(a.dw)[d * P::W + k] = from_float<Stored>(sum);
}

template <class P>
__device__ void causal_conv1d_dw_reduce(const CausalConv1dDwReduceArgs& a) {
  constexpr int kChains = 32, kOwn = kChains / P::split, V = P::vec;
  constexpr i64 kColumns = static_cast<i64>(P::W + (P::bias ? 1 : 0)) * P::D;
  STROP_SHARED(float, shared, P::threads * V);
  const int lanes = static_cast<int>(a.lanes);
  const int lane = threadIdx.x % lanes;
  const int part = threadIdx.x / lanes;  // has chains part, part + split, ...
  const i64 column = (static_cast<i64>(blockIdx.x) * lanes + lane) * V;
  const bool active = column < kColumns;
  grid_dependency_wait();

  float chain[kOwn][V];
  STROP_UNROLL
  for (int c = 0; c < kOwn; ++c) {
    STROP_UNROLL
    for (int i = 0; i < V; ++i) chain[c][i] = 0.0f;
  }
  for (i64 first = 0; active && first < a.partials; first += kChains) {
    STROP_UNROLL
    for (int c = 0; c < kOwn; ++c) {
      const i64 row = first + c * P::split + part;
      if (row < a.partials) {
        float in[V];
        load(in, a.partial + row * kColumns + column);
        STROP_UNROLL
        for (int i = 0; i < V; ++i) chain[c][i] += in[i];
      }
    }
  }
  STROP_UNROLL
  for (int half = kOwn / 2; half > 0; half /= 2) {
    STROP_UNROLL
    for (int c = 0; c < half; ++c) {
      STROP_UNROLL
      for (int i = 0; i < V; ++i) chain[c][i] += chain[c + half][i];
    }
  }
  STROP_UNROLL
  for (int i = 0; i < V; ++i) shared[(part * V + i) * lanes + lane] = chain[0][i];
  STROP_UNROLL
  for (int half = P::split / 2; half > 0; half /= 2) {
    __syncthreads();
    if (part < half) {
      STROP_UNROLL
      for (int i = 0; i < V; ++i) shared[(part * V + i) * lanes + lane] += shared[((part + half) * V + i) * lanes + lane];
    }
  }
  if (part == 0 && active) {
    STROP_UNROLL
    for (int i = 0; i < V; ++i) store_column<P>(a, column + i, shared[i * lanes + lane]);
  }
}

}  // namespace strop
