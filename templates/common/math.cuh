#pragma once

// The functions of an activation, on the approximate wrappers of the side: exp2_approx, rcp_approx, tanh_approx. Two
// forms of the sigmoid, because which is faster depends on the kernel: `exp2_rcp` (two special-function slots, relative
// error about 2^-21) and `tanh` (one slot, absolute error about 2^-12).

#include "common/types.cuh"

namespace strop {

enum class SigmoidForm { exp2_rcp = 0, tanh = 1 };

template <SigmoidForm F>
__device__ __forceinline__ float sigmoid(float v) {
  if constexpr (F == SigmoidForm::tanh) {
    return fmaf(0.5f, tanh_approx(0.5f * v), 0.5f);
  } else {
    return rcp_approx(1.0f + exp2_approx(v * -1.4426950408889634f));
  }
}

template <SigmoidForm F>
__device__ __forceinline__ float silu(float v) {
  return v * sigmoid<F>(v);
}

// d silu / dv = s * (1 + v * (1 - s)).
template <SigmoidForm F>
__device__ __forceinline__ float silu_slope(float v) {
  const float s = sigmoid<F>(v);
  return fmaf(s, fmaf(-s, v, v), s);
}

}  // namespace strop
