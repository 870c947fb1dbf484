#pragma once

// Division of a 31-bit number by a number that only the launch knows, in one multiplication: an integer division is some thirty
// dependent instructions, and a short block waits for them before its first load. The host's twin is src/ops/divisor.h.
//
// q = (hi32(multiplier * n) + n) >> shift, exact for n < 2^31 (Granlund and Montgomery, "Division by invariant integers using
// multiplication", PLDI 1994, figure 4.1).

#include "common/types.cuh"

namespace strop {

struct Divisor {
  u32 value, multiplier, shift;
};

__device__ __forceinline__ u32 divide(u32 n, const Divisor& by) {
  return (static_cast<u32>(static_cast<u64>(by.multiplier) * n >> 32) + n) >> by.shift;
}

}  // namespace strop
