#pragma once

// N elements of a storage type to and from memory. A Pack is what one or more whole transactions bring: raw words, not
// yet widened, so that a kernel can issue all its loads before its arithmetic. Pointers given to the vector forms are
// aligned to Pack<T, N>::kAlign; the guarded forms need only the element's alignment.

#include "common/convert.cuh"

namespace strop {

template <class T, int N>
struct Pack {
  static constexpr int kBytes = N * static_cast<int>(sizeof(T));
  static constexpr int kAlign = kBytes < 16 ? kBytes : 16;  // bytes of one transaction
  static constexpr int kWords = kBytes / kAlign;
  static_assert(kBytes % kAlign == 0 && (kAlign & (kAlign - 1)) == 0, "N elements must be 1, 2, 4, 8 or 16k bytes");

  union {
    Raw<kAlign> words[kWords];
    T elements[N];
    u32 pairs[kBytes < 4 ? 1 : kBytes / 4];
  };

  __device__ __forceinline__ void zero() {
    STROP_UNROLL
    for (int i = 0; i < kWords; ++i) words[i] = Raw<kAlign>{};
  }
  __device__ __forceinline__ void widen(float (&out)[N]) const {
    STROP_UNROLL
    for (int i = 0; i < N; ++i) out[i] = element(i);
  }
  __device__ __forceinline__ float element(int i) const {
    if constexpr (sizeof(T) == 2 && N > 1) {
      return i & 1 ? high_of<T>(pairs[i / 2]) : low_of<T>(pairs[i / 2]);
    } else {
      return to_float(elements[i]);
    }
  }
  __device__ __forceinline__ void narrow(const float (&in)[N]) {
    if constexpr (sizeof(T) == 2 && N > 1) {
      STROP_UNROLL
      for (int i = 0; i < N / 2; ++i) pairs[i] = pack_pair<T>(in[2 * i], in[2 * i + 1]);
    } else {
      STROP_UNROLL
      for (int i = 0; i < N; ++i) elements[i] = from_float<T>(in[i]);
    }
  }
};

template <int N, Load H = Load::plain, class T>
__device__ __forceinline__ Pack<T, N> load_pack(const T* p) {
  Pack<T, N> r;
  using Word = Raw<Pack<T, N>::kAlign>;
  STROP_UNROLL
  for (int i = 0; i < Pack<T, N>::kWords; ++i) r.words[i] = load_raw<H>(reinterpret_cast<const Word*>(p) + i);
  return r;
}
// Zero where `valid` is false; `p` is not read then.
template <int N, Load H = Load::plain, class T>
__device__ __forceinline__ Pack<T, N> load_pack_if(const T* p, bool valid) {
  Pack<T, N> r;
  using Word = Raw<Pack<T, N>::kAlign>;
  STROP_UNROLL
  for (int i = 0; i < Pack<T, N>::kWords; ++i) r.words[i] = load_raw_if<H>(reinterpret_cast<const Word*>(p) + i, valid);
  return r;
}
// The first `valid` elements, one by one; the rest is zero.
template <int N, Load H = Load::plain, class T>
__device__ __forceinline__ Pack<T, N> load_pack_guarded(const T* p, int valid) {
  Pack<T, N> r;
  STROP_UNROLL
  for (int i = 0; i < N; ++i) {
    union {
      Raw<sizeof(T)> raw;
      T element;
    } one;
    one.raw = load_raw_if<H>(reinterpret_cast<const Raw<sizeof(T)>*>(p) + i, i < valid);
    r.elements[i] = one.element;
  }
  return r;
}

template <Store H = Store::plain, class T, int N>
__device__ __forceinline__ void store_pack(T* p, const Pack<T, N>& v) {
  using Word = Raw<Pack<T, N>::kAlign>;
  STROP_UNROLL
  for (int i = 0; i < Pack<T, N>::kWords; ++i) store_raw<H>(reinterpret_cast<Word*>(p) + i, v.words[i]);
}
// Nothing where `valid` is false. Global memory only.
template <Store H = Store::plain, class T, int N>
__device__ __forceinline__ void store_pack_if(T* p, const Pack<T, N>& v, bool valid) {
  using Word = Raw<Pack<T, N>::kAlign>;
  STROP_UNROLL
  for (int i = 0; i < Pack<T, N>::kWords; ++i) store_raw_if<H>(reinterpret_cast<Word*>(p) + i, v.words[i], valid);
}
template <Store H = Store::plain, class T, int N>
__device__ __forceinline__ void store_pack_guarded(T* p, const Pack<T, N>& v, int valid) {
  STROP_UNROLL
  for (int i = 0; i < N; ++i) {
    union {
      Raw<sizeof(T)> raw;
      T element;
    } one;
    one.element = v.elements[i];
    if (i < valid) store_raw<H>(reinterpret_cast<Raw<sizeof(T)>*>(p) + i, one.raw);
  }
}

// Straight to and from fp32.
template <int N, Load H = Load::plain, class T>
__device__ __forceinline__ void load(float (&out)[N], const T* p) {
  load_pack<N, H>(p).widen(out);
}
template <int N, Load H = Load::plain, class T>
__device__ __forceinline__ void load_guarded(float (&out)[N], const T* p, int valid) {
  load_pack_guarded<N, H>(p, valid).widen(out);
}
template <Store H = Store::plain, class T, int N>
__device__ __forceinline__ void store(T* p, const float (&in)[N]) {
  Pack<T, N> v;
  v.narrow(in);
  store_pack<H>(p, v);
}
template <Store H = Store::plain, class T, int N>
__device__ __forceinline__ void store_if(T* p, const float (&in)[N], bool valid) {
  Pack<T, N> v;
  v.narrow(in);
  store_pack_if<H>(p, v, valid);
}
template <Store H = Store::plain, class T, int N>
__device__ __forceinline__ void store_guarded(T* p, const float (&in)[N], int valid) {
  Pack<T, N> v;
  v.narrow(in);
  store_pack_guarded<H>(p, v, valid);
}

}  // namespace strop
