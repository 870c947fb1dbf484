#pragma once

#include "wrappers/args.cuh"

namespace strop::conformance {

struct DependencyParams {
  static constexpr int threads = 128;
};

// To be launched several times in a row, overlapping: each adds to what the one before it wrote, after a long enough
// wait for a missing wait to show.
template <class P>
__device__ void dependency(const Args& a) {
  const u32 i = blockIdx.x * P::threads + threadIdx.x;
  grid_dependency_trigger();
  grid_dependency_wait();
  const u32 from = (i + 1u) % a.count;
  const u32 v = a.in[from] + 1u;  // `in` and `out` change places from launch to launch
  a.out[i] = v;
}

}  // namespace strop::conformance
