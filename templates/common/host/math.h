#pragma once

// The twin of common/cuda/math.cuh. More exact than the chip; subnormal inputs and results of exp2 and rcp are zero
// there too.

#include "common/host/words.h"
#include "common/scalars.cuh"

namespace strop {
namespace host {
inline float flush(float v) {
  const u32 bits = __float_as_uint(v);
  return (bits & 0x7f800000u) == 0 ? __uint_as_float(bits & 0x80000000u) : v;
}
}  // namespace host

inline float exp2_approx(float v) { return host::flush(exp2f(host::flush(v))); }
// Division by zero is meant: its result is the chip's.
__attribute__((no_sanitize("float-divide-by-zero"))) inline float rcp_approx(float v) {
  return host::flush(1.0f / host::flush(v));
}
inline float tanh_approx(float v) { return tanhf(v); }

}  // namespace strop
