#pragma once

// The twin of common/cuda/async_copy.cuh: a copy is recorded when issued and done at the wait that covers it, so that a
// missing wait shows.

#include "common/host/sync.h"

namespace strop {
namespace host {

// What an operation carries, read out of the runtime's queue: not the kernel's memory, so not to be checked for races.
template <class T>
STROP_UNTRACKED __attribute__((noinline)) T payload_of(const void* p) {
  T copy;
  __builtin_memcpy(&copy, p, sizeof(T));
  return copy;
}

struct AsyncCopy {
  char* shared;
  const char* global;
  int bytes, source_bytes;

  static void run(const void* p) {
    const AsyncCopy c = payload_of<AsyncCopy>(p);
    for (int i = 0; i < c.bytes; ++i) c.shared[i] = i < c.source_bytes ? c.global[i] : 0;
  }
};

inline bool misaligned(const void* a, const void* b, unsigned long to) {
  return (reinterpret_cast<unsigned long>(a) | reinterpret_cast<unsigned long>(b)) % to != 0;
}

}  // namespace host

template <int Bytes>
inline void copy_async(void* shared, const void* global, int source_bytes = Bytes, STROP_HERE) {
  static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16, "cp.async copies 4, 8 or 16 bytes");
  if (host::misaligned(shared, global, Bytes))
    host::context->functions->fail("cp.async: misaligned address", {file, line});
  if (source_bytes < 0 || source_bytes > Bytes)
    host::context->functions->fail("cp.async: source bytes out of range", {file, line});
  const host::AsyncCopy c{static_cast<char*>(shared), static_cast<const char*>(global), Bytes, source_bytes};
  host::context->functions->async(host::Queue::copy_async, host::AsyncCopy::run, &c, sizeof c);
}
inline void copy_async_commit() { host::context->functions->async_commit(host::Queue::copy_async); }
template <int Pending>
inline void copy_async_wait() {
  host::context->functions->async_wait(host::Queue::copy_async, Pending);
}

}  // namespace strop
