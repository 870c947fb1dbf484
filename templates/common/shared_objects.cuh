#pragma once

// What lives in, or describes, shared memory and is equal on both sides.

#include "common/scalars.cuh"

namespace strop {

// A barrier that counts arrivals and bytes, in shared memory: `STROP_SHARED(strop::Mbarrier, full, kStages);`.
struct alignas(8) Mbarrier {
  u64 state;
};

// An operand of wgmma in shared memory, K-major, not swizzled: 8x8 core matrices of 128 bytes (8 rows of 16 bytes).
// `along_k` and `along_rows` are the bytes between neighbouring core matrices in the two directions, multiples of 16.
struct WgmmaOperand {
  const void* base;
  u32 along_k;
  u32 along_rows;
};

}  // namespace strop
