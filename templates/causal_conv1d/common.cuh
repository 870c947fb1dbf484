#pragma once

// What forward and backward of the causal convolution share: storage types by number, taps in registers, and the pre-activation in
// its one order of operations. Formulas: include/strop/causal_conv1d.h.

#include "common/divide.cuh"
#include "common/math.cuh"
#include "common/memory.cuh"

namespace strop::causal_conv1d {

// strop::DType by number, as the host passes it.
template <int Type>
struct StorageOf;
template <>
struct StorageOf<0> {
  using Type = float;
};
template <>
struct StorageOf<1> {
  using Type = fp16;
};
template <>
struct StorageOf<2> {
  using Type = bf16;
};
template <int Type>
using Storage = typename StorageOf<Type>::Type;

// The ring that holds the last W rows has a power of two of slots, so that a row's slot is a compile-time constant in loops
// unrolled by it.
__device__ constexpr int ring_slots(int W) { return W <= 1 ? 1 : W <= 2 ? 2 : W <= 4 ? 4 : 8; }

constexpr SigmoidForm kSigmoid = SigmoidForm::exp2_rcp;

// weight[d, 0..W) and bias[d] of V neighbouring channels, widened.
template <class P, int V>
struct Taps {
  using Stored = Storage<P::weight_type>;
  float weight[P::W][V];
  float bias[V];

  __device__ __forceinline__ void load(const void* weights, const void* biases, i64 d, i64 stride_d, i64 stride_k) {
    const auto* w = static_cast<const Stored*>(weights);
    STROP_UNROLL
    for (int i = 0; i < V; ++i) load_channel(w + (d + i) * stride_d, stride_k, i);
    if constexpr (P::bias) {
      const auto* b = static_cast<const Stored*>(biases);
      STROP_UNROLL
      for (int i = 0; i < V; ++i) bias[i] = to_float(b[d + i]);
    }
  }

  // sum_k weight[k] * x[t-(W-1)+k], oldest first, then the bias; `x(k)` gives the row under tap k.
  template <class Row>
  __device__ __forceinline__ float pre(const Row& x, int i) const {
    float sum = weight[0][i] * x(0);
    STROP_UNROLL
    for (int k = 1; k < P::W; ++k) sum = fmaf(weight[k][i], x(k), sum);
    if constexpr (P::bias) sum += bias[i];
    return sum;
  }

 private:
  __device__ __forceinline__ void load_channel(const Stored* w, i64 stride_k, int i) {
    if constexpr (P::packed_taps) {  // dense and aligned: all taps of a channel in one transaction
      float taps[P::W];
      strop::load(taps, w);
      STROP_UNROLL
      for (int k = 0; k < P::W; ++k) weight[k][i] = taps[k];
    } else {
      STROP_UNROLL
      for (int k = 0; k < P::W; ++k) weight[k][i] = to_float(w[k * stride_k]);
    }
  }
};

// The distance between rows: a constant for dense tensors, so that a thread's rows are immediate offsets from one pointer.
template <class P>
__device__ __forceinline__ i64 row_stride(i64 given) {
  return P::dense ? static_cast<i64>(P::D) : given;
}

// Which channels and rows a thread has. Blocks lie in memory order: channels fastest, then time, then sequences; all on grid x.
struct Position {
  i64 sequence;
  i64 d;       // first channel
  i64 block_t;  // which block of rows within the sequence
};

template <int V>
__device__ __forceinline__ Position position(u32 lane, u32 lanes, const Divisor& blocks_d, const Divisor& blocks_t) {
  const u32 rest = divide(blockIdx.x, blocks_d);
  Position at;
  at.d = static_cast<i64>((blockIdx.x - rest * blocks_d.value) * lanes + lane) * V;
  const u32 sequence = divide(rest, blocks_t);
  at.sequence = sequence;
  at.block_t = rest - sequence * blocks_t.value;
  return at;
}

}  // namespace strop::causal_conv1d
