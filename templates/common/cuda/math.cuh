#pragma once

// Approximate functions of the special-function unit. Errors as NVIDIA states them: exp2 2 ulp, rcp 1 ulp, tanh 2^-11
// relative. exp2 and rcp flush subnormal inputs and results to zero.

#include "common/scalars.cuh"

namespace strop {

__device__ __forceinline__ float exp2_approx(float v) {
  float r;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(v));
  return r;
}
__device__ __forceinline__ float rcp_approx(float v) {
  float r;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(v));
  return r;
}
__device__ __forceinline__ float tanh_approx(float v) {
  float r;
  asm("tanh.approx.f32 %0, %1;" : "=f"(r) : "f"(v));
  return r;
}

}  // namespace strop
