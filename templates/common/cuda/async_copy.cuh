#pragma once

// cp.async: global to shared memory without registers, in groups of the issuing thread. The copied bytes may be read by
// this thread after the wait that covers their group, by others after a barrier too.

#include "common/cuda/sync.cuh"

namespace strop {

// `Bytes` is 4, 8 or 16, both addresses aligned to it. The first `source_bytes` are copied, the rest of `shared`
// becomes zero; with 0 `global` is not read.
template <int Bytes>
__device__ __forceinline__ void copy_async(void* shared, const void* global, int source_bytes = Bytes) {
  static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16, "cp.async copies 4, 8 or 16 bytes");
  if constexpr (Bytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(shared)), "l"(global),
                 "r"(source_bytes)
                 : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(shared_address(shared)), "l"(global), "n"(Bytes),
                 "r"(source_bytes)
                 : "memory");
  }
}
// Closes the group of the copies issued so far.
__device__ __forceinline__ void copy_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
// Waits until at most `Pending` of this thread's groups are under way.
template <int Pending>
__device__ __forceinline__ void copy_async_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(Pending) : "memory");
}

}  // namespace strop
