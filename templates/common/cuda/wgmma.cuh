#pragma once

// Warpgroup matrix multiply from shared memory (sm_90a). Four warps, the first of them a multiple of four, call
// together.

#include "common/cuda/sync.cuh"
#include "common/shared_objects.cuh"

namespace strop {

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

namespace cuda {
__device__ __forceinline__ u64 wgmma_descriptor(const WgmmaOperand& m) {
  return static_cast<u64>((shared_address(m.base) & 0x3ffffu) >> 4) | static_cast<u64>(m.along_k >> 4) << 16 |
         static_cast<u64>(m.along_rows >> 4) << 32;
}
}  // namespace cuda

// Before the first wgmma and whenever registers of `d` were touched by others; async_proxy_fence() too when the
// operands were written by the threads.
__device__ __forceinline__ void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
// D (64x8, fp32) += A (64x16) * B (16x8, given as its 8 rows of 16 along K). Asynchronous: `d` must not be touched
// before the wait.
template <class T>
__device__ __forceinline__ void wgmma_m64n8k16(float (&d)[4], const WgmmaOperand& a, const WgmmaOperand& b);
template <>
__device__ __forceinline__ void wgmma_m64n8k16<bf16>(float (&d)[4], const WgmmaOperand& a, const WgmmaOperand& b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0,%1,%2,%3}, %4, %5, 1, 1, 1, 0, 0;"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "l"(cuda::wgmma_descriptor(a)), "l"(cuda::wgmma_descriptor(b))
               : "memory");
}
template <>
__device__ __forceinline__ void wgmma_m64n8k16<fp16>(float (&d)[4], const WgmmaOperand& a, const WgmmaOperand& b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3}, %4, %5, 1, 1, 1, 0, 0;"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "l"(cuda::wgmma_descriptor(a)), "l"(cuda::wgmma_descriptor(b))
               : "memory");
}
__device__ __forceinline__ void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
// Until at most `Pending` groups are under way; `d` may be read after. Naming it keeps the compiler from reading it
// earlier.
template <int Pending>
__device__ __forceinline__ void wgmma_wait(float (&d)[4]) {
  asm volatile("wgmma.wait_group.sync.aligned %4;"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "n"(Pending)
               : "memory");
}

#endif

}  // namespace strop
