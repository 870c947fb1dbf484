#pragma once

// Barriers in shared memory that count arrivals and bytes, and the bulk copies that report to them. sm_90 and newer.

#include "common/cuda/sync.cuh"
#include "common/shared_objects.cuh"

namespace strop {

#if __CUDA_ARCH__ >= 900

// One thread initialises for `arrivals` a phase; others use it after mbarrier_init_fence() by that thread and a block
// barrier.
__device__ __forceinline__ void mbarrier_init(Mbarrier* b, u32 arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(b)), "r"(arrivals) : "memory");
}
__device__ __forceinline__ void mbarrier_init_fence() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ __forceinline__ void mbarrier_arrive(Mbarrier* b) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(b)) : "memory");
}
// Arrives, and makes the phase wait for `bytes` more of bulk copies.
__device__ __forceinline__ void mbarrier_arrive_expect(Mbarrier* b, u32 bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(b)), "r"(bytes)
               : "memory");
}
// Waits for the end of the phase of that parity: 0 for the first, then 1, 0, ...
__device__ __forceinline__ void mbarrier_wait(Mbarrier* b, u32 parity) {
  asm volatile(
      "{\n.reg .pred done;\nretry: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n@done bra over;\n"
      "bra retry;\nover:\n}" ::"r"(shared_address(b)),
      "r"(parity)
      : "memory");
}

// One thread issues; addresses and `bytes` are multiples of 16. The bytes count down on `b` as they arrive.
__device__ __forceinline__ void bulk_copy(void* shared, const void* global, u32 bytes, Mbarrier* b) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                   shared_address(shared)),
               "l"(global), "r"(bytes), "r"(shared_address(b))
               : "memory");
}
// Shared to global, in bulk groups of the issuing thread. What the threads wrote to shared memory must be made visible
// to the copy first: async_proxy_fence() by each writer, then a barrier.
__device__ __forceinline__ void bulk_store(void* global, const void* shared, u32 bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(global), "r"(shared_address(shared)),
               "r"(bytes)
               : "memory");
}
__device__ __forceinline__ void bulk_store_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
// Until at most `Pending` groups are under way: their bytes written.
template <int Pending>
__device__ __forceinline__ void bulk_store_wait() {
  asm volatile("cp.async.bulk.wait_group %0;" ::"n"(Pending) : "memory");
}
__device__ __forceinline__ void async_proxy_fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

#endif

}  // namespace strop
