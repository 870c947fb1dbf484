#pragma once

// The twin of common/cuda/wgmma.cuh. Every thread owns its part of D and both operands are in shared memory, so nothing
// has to meet; the work is done at the wait that covers it.

#include "common/host/async_copy.h"
#include "common/host/matrix.h"
#include "common/shared_objects.cuh"

namespace strop {
namespace host {

template <class T>
struct WarpgroupMultiply {
  float* d;
  const char *a, *b;
  u32 a_along_k, a_along_rows, b_along_k, b_along_rows, thread;

  static float element(const char* base, u32 along_k, u32 along_rows, u32 row, u32 k) {
    u16 bits;
    __builtin_memcpy(&bits, base + k / 8 * along_k + row / 8 * along_rows + row % 8 * 16 + k % 8 * 2, sizeof bits);
    return widen_bits<T>(bits);
  }
  static void run(const void* p) {
    const WarpgroupMultiply m = payload_of<WarpgroupMultiply>(p);
    for (u32 e = 0; e < 4; ++e) {
      const u32 row = m.thread / 32 * 16 + m.thread % 32 / 4 + e / 2 * 8;
      const u32 column = m.thread % 4 * 2 + e % 2;
      float sum = m.d[e];
      for (u32 k = 0; k < 16; ++k)
        sum += element(m.a, m.a_along_k, m.a_along_rows, row, k) * element(m.b, m.b_along_k, m.b_along_rows, column, k);
      m.d[e] = sum;
    }
  }
};

}  // namespace host

inline void wgmma_fence() {}
template <class T>
inline void wgmma_m64n8k16(float (&d)[4], const WgmmaOperand& a, const WgmmaOperand& b, STROP_HERE) {
  if (host::misaligned(a.base, b.base, 16))
    host::context->functions->fail("wgmma: an operand is not 16-byte aligned", {file, line});
  const host::WarpgroupMultiply<T> m{d,
                                     static_cast<const char*>(a.base),
                                     static_cast<const char*>(b.base),
                                     a.along_k,
                                     a.along_rows,
                                     b.along_k,
                                     b.along_rows,
                                     host::context->number & 127u};
  static_assert(sizeof m <= host::kPayloadBytes, "fits the queue");
  host::context->functions->async(host::Queue::wgmma, host::WarpgroupMultiply<T>::run, &m, sizeof m);
}
inline void wgmma_commit() { host::context->functions->async_commit(host::Queue::wgmma); }
template <int Pending>
inline void wgmma_wait(float (&)[4]) {
  host::context->functions->async_wait(host::Queue::wgmma, Pending);
}

}  // namespace strop
