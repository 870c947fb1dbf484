#pragma once

// The twin of common/cuda/bulk_copy.cuh. Copies go to the block's engine, which runs them, in any order, when threads
// wait.

#include "common/host/async_copy.h"
#include "common/shared_objects.cuh"

namespace strop {
namespace host {

// How the 8 bytes of an Mbarrier are used here.
struct MbarrierState {
  unsigned phase : 1, expected : 15, pending : 16;
  int bytes;  // still to come in this phase; may be negative until they are announced
};
static_assert(sizeof(MbarrierState) == sizeof(Mbarrier), "it lives in the kernel's memory");

STROP_UNTRACKED inline MbarrierState& state_of(Mbarrier* b) { return *reinterpret_cast<MbarrierState*>(b); }
STROP_UNTRACKED inline void finish_phase(MbarrierState& s) {
  if (s.pending != 0 || s.bytes != 0) return;
  s.phase ^= 1u;
  s.pending = s.expected;
}
STROP_UNTRACKED inline void arrive(Mbarrier* b, u32 bytes, Site site) {
  MbarrierState& s = state_of(b);
  if (s.pending == 0) context->functions->fail("mbarrier: more arrivals than its count", site);
  context->functions->release(b);
  s.bytes += static_cast<int>(bytes);
  s.pending -= 1u;
  finish_phase(s);
}
STROP_UNTRACKED inline void complete_bytes(Mbarrier* b, u32 bytes) {
  context->functions->release(b);
  MbarrierState& s = state_of(b);
  s.bytes -= static_cast<int>(bytes);
  finish_phase(s);
}

struct BulkCopy {
  char* to;
  const char* from;
  u32 bytes;
  Mbarrier* barrier;  // null for stores

  static void run(const void* p) {
    const BulkCopy c = payload_of<BulkCopy>(p);
    for (u32 i = 0; i < c.bytes; ++i) c.to[i] = c.from[i];
    if (c.barrier) complete_bytes(c.barrier, c.bytes);
  }
};

inline void check_bulk(const void* a, const void* b, u32 bytes, Site site) {
  if (misaligned(a, b, 16) || bytes % 16 != 0)
    context->functions->fail("cp.async.bulk: an address or the size is not a multiple of 16", site);
}

}  // namespace host

STROP_UNTRACKED inline void mbarrier_init(Mbarrier* b, u32 arrivals) {
  host::state_of(b) = {0u, arrivals, arrivals, 0};
}
inline void mbarrier_init_fence() {}
inline void mbarrier_arrive(Mbarrier* b, STROP_HERE) { host::arrive(b, 0, {file, line}); }
inline void mbarrier_arrive_expect(Mbarrier* b, u32 bytes, STROP_HERE) { host::arrive(b, bytes, {file, line}); }
STROP_UNTRACKED inline void mbarrier_wait(Mbarrier* b, u32 parity, STROP_HERE) {
  while (host::state_of(b).phase == (parity & 1u))
    if (!host::context->functions->engine_step()) host::context->functions->yield({file, line});
  host::context->functions->acquire(b);
}

inline void bulk_copy(void* shared, const void* global, u32 bytes, Mbarrier* b, STROP_HERE) {
  host::check_bulk(shared, global, bytes, {file, line});
  const host::BulkCopy c{static_cast<char*>(shared), static_cast<const char*>(global), bytes, b};
  host::context->functions->engine(host::BulkCopy::run, &c, sizeof c);
}
inline void bulk_store(void* global, const void* shared, u32 bytes, STROP_HERE) {
  host::check_bulk(shared, global, bytes, {file, line});
  const host::BulkCopy c{static_cast<char*>(global), static_cast<const char*>(shared), bytes, nullptr};
  host::context->functions->async(host::Queue::bulk_store, host::BulkCopy::run, &c, sizeof c);
}
inline void bulk_store_commit() { host::context->functions->async_commit(host::Queue::bulk_store); }
template <int Pending>
inline void bulk_store_wait() {
  host::context->functions->async_wait(host::Queue::bulk_store, Pending);
}
inline void async_proxy_fence() {}

}  // namespace strop
