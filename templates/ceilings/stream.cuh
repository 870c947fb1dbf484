#pragma once

// What the memory allows: the fewest-instruction kernels that move the bytes of an op, against which its share of the limit is
// stated. `inputs` 1 is a copy, 2 an addition; one 16-byte transaction a thread and input, blocks in memory order.

#include "common/memory.cuh"

namespace strop {

struct StreamArgs {
  const float* a;
  const float* b;  // not read when inputs is 1
  float* out;
  i64 packs;       // of 16 bytes
};

struct StreamParams {
  static constexpr int inputs = 1;
  static constexpr int threads = 256;
};

template <class P>
__device__ void stream(const StreamArgs& args) {
  const i64 i = static_cast<i64>(blockIdx.x) * P::threads + threadIdx.x;
  if (i >= args.packs) return;
  auto pack = load_pack<4, Load::read_only>(args.a + 4 * i);
  if constexpr (P::inputs == 2) {
    const auto other = load_pack<4, Load::read_only>(args.b + 4 * i);
    STROP_UNROLL
    for (int k = 0; k < 4; ++k) pack.elements[k] += other.elements[k];
  }
  store_pack(args.out + 4 * i, pack);
}

}  // namespace strop
