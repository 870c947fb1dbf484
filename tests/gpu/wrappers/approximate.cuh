#pragma once

#include "common/math.cuh"
#include "wrappers/args.cuh"

namespace strop::conformance {

struct ApproximateParams {
  static constexpr int threads = 256;
  static constexpr int function =
      0;  // 0 exp2, 1 rcp, 2 tanh, 3 sigmoid exp2_rcp, 4 sigmoid tanh, 5 silu slope exp2_rcp
};

template <class P>
__device__ void approximate(const Args& a) {
  const u32 i = blockIdx.x * P::threads + threadIdx.x;
  if (i >= a.count) return;
  const float v = __uint_as_float(a.in[i]);
  float r = 0.0f;
  if constexpr (P::function == 0) r = exp2_approx(v);
  if constexpr (P::function == 1) r = rcp_approx(v);
  if constexpr (P::function == 2) r = tanh_approx(v);
  if constexpr (P::function == 3) r = sigmoid<SigmoidForm::exp2_rcp>(v);
  if constexpr (P::function == 4) r = sigmoid<SigmoidForm::tanh>(v);
  if constexpr (P::function == 5) r = silu_slope<SigmoidForm::exp2_rcp>(v);
  a.out[i] = __float_as_uint(r);
}

}  // namespace strop::conformance
