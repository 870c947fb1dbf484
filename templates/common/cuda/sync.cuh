#pragma once

// Synchronisation beyond the CUDA words (__syncthreads and its votes, __syncwarp, warp collectives), which both sides
// have.

#include "common/scalars.cuh"

namespace strop {

// Named barriers 1 to 15 (0 is __syncthreads). `threads`, a multiple of 32, counts those who sync and those who arrive.
__device__ __forceinline__ void named_barrier_sync(int id, int threads) {
  asm volatile("barrier.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
__device__ __forceinline__ void named_barrier_arrive(int id, int threads) {
  asm volatile("barrier.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

// Programmatic dependent launch. `wait` returns when the grids before this one in the stream have finished and their
// writes are visible; to be called before the first access to what they write. `trigger` lets the next grid start
// early. Both do nothing where the launch was a plain one or the chip has no such launches.
__device__ __forceinline__ void grid_dependency_wait() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
__device__ __forceinline__ void grid_dependency_trigger() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

// Ends the kernel with an error; the launch is reported as failed. `why` is for the host side's report.
__device__ __forceinline__ void trap([[maybe_unused]] const char* why) { __trap(); }

// The 32-bit address of an object in shared memory, as PTX wants it. For the wrappers of this folder.
__device__ __forceinline__ u32 shared_address(const void* p) { return static_cast<u32>(__cvta_generic_to_shared(p)); }

}  // namespace strop
