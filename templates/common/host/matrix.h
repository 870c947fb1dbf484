#pragma once

// The twin of common/cuda/matrix.cuh. Products are added one after another in fp32: exact for integers, elsewhere
// within the rounding of a different order.

#include "common/host/convert.h"
#include "common/host/warp.h"

namespace strop {
namespace host {

template <class T>
STROP_UNTRACKED inline float widen_bits(u32 bits);
template <>
STROP_UNTRACKED inline float widen_bits<bf16>(u32 bits) {
  return __builtin_bit_cast(float, bits << 16);
}
template <>
STROP_UNTRACKED inline float widen_bits<fp16>(u32 bits) {
  return wide_of_half(static_cast<u16>(bits));
}

template <class T>
struct Multiply {
  float* d;
  const u32 *a, *b;

  STROP_UNTRACKED static float element(u32 pair, int high) { return widen_bits<T>(high ? pair >> 16 : pair & 0xffffu); }
  STROP_UNTRACKED static void gather(void** lanes, float (&a)[16][16], float (&b)[16][8]) {
    for (int lane = 0; lane < 32; ++lane) {
      const Multiply* m = static_cast<Multiply*>(lanes[lane]);
      const int row = lane / 4, column = lane % 4 * 2;
      for (int e = 0; e < 2; ++e) {
        a[row][column + e] = element(m->a[0], e);
        a[row + 8][column + e] = element(m->a[1], e);
        a[row][column + 8 + e] = element(m->a[2], e);
        a[row + 8][column + 8 + e] = element(m->a[3], e);
        b[column + e][row] = element(m->b[0], e);
        b[column + 8 + e][row] = element(m->b[1], e);
      }
    }
  }
  STROP_UNTRACKED static void run(void** lanes, unsigned) {
    float a[16][16], b[16][8];
    gather(lanes, a, b);
    for (int lane = 0; lane < 32; ++lane) {
      Multiply* m = static_cast<Multiply*>(lanes[lane]);
      for (int e = 0; e < 4; ++e) {
        const int row = lane / 4 + e / 2 * 8, column = lane % 4 * 2 + e % 2;
        float sum = m->d[e];
        for (int k = 0; k < 16; ++k) sum += a[row][k] * b[k][column];
        m->d[e] = sum;
      }
    }
  }
};

template <int Count, bool Transposed>
struct MatrixLoad {
  u32* r;
  const u16* row;

  STROP_UNTRACKED static const u16* row_of(void** lanes, int matrix, int row) {
    return static_cast<MatrixLoad*>(lanes[matrix * 8 + row])->row;
  }
  STROP_UNTRACKED static void run(void** lanes, unsigned) {
    for (int matrix = 0; matrix < Count; ++matrix) {
      for (int lane = 0; lane < 32; ++lane) {
        const int row = lane / 4, column = lane % 4 * 2;
        const u16 low = Transposed ? row_of(lanes, matrix, column)[row] : row_of(lanes, matrix, row)[column];
        const u16 high = Transposed ? row_of(lanes, matrix, column + 1)[row] : row_of(lanes, matrix, row)[column + 1];
        static_cast<MatrixLoad*>(lanes[lane])->r[matrix] = low | static_cast<u32>(high) << 16;
      }
    }
  }
};

}  // namespace host

template <class T>
inline void mma_m16n8k16(float (&d)[4], const u32 (&a)[4], const u32 (&b)[2], STROP_HERE) {
  host::Multiply<T> mine{d, a, b};
  host::context->functions->meet(0xffffffffu, &mine, host::Multiply<T>::run, "mma", false, {file, line});
}

template <int Count, bool Transposed>
inline void ldmatrix(u32 (&r)[Count], const void* row, STROP_HERE) {
  static_assert(Count == 1 || Count == 2 || Count == 4, "one, two or four matrices");
  using Mine = host::MatrixLoad<Count, Transposed>;
  Mine mine{r, static_cast<const u16*>(row)};
  if (host::lane() < Count * 8u) {
    if (reinterpret_cast<unsigned long>(row) % 16 != 0)
      host::context->functions->fail("ldmatrix: a row is not 16-byte aligned", {file, line});
    // Each lane reads its own row once, for the race checker: the collective's own reads are not tracked.
    for (int i = 0; i < 2; ++i) (void)static_cast<const volatile u64*>(row)[i];
  }
  host::context->functions->meet(0xffffffffu, &mine, Mine::run, Transposed ? "ldmatrix.trans" : "ldmatrix", false,
                                 {file, line});
}

}  // namespace strop
