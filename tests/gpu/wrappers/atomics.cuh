#pragma once

#include "wrappers/args.cuh"

namespace strop::conformance {

struct AtomicsParams {
  static constexpr int threads = 128;
};

// Sums of integers, in every type exact in any order. The last words show that each compare-and-swap was won once.
template <class P>
__device__ void atomics(const Args& a) {
  const u32 v = a.in[blockIdx.x * P::threads + threadIdx.x];
  atomicAdd(a.out, v);
  atomicAdd(reinterpret_cast<int*>(a.out + 1), -static_cast<int>(v));
  atomicAdd(reinterpret_cast<float*>(a.out + 2), static_cast<float>(v & 1023u));
  atomicMax(a.out + 3, v);
  atomicMin(a.out + 4, v);
  u32 seen = atomicAdd(a.out + 5, 0u);
  while (true) {
    const u32 before = atomicCAS(a.out + 5, seen, seen + 2u);
    if (before == seen) break;
    seen = before;
  }
  atomicExch(a.out + 6, 17u);
}

}  // namespace strop::conformance
