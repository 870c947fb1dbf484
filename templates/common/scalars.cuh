#pragma once

// The scalar words of the dialect, equal on both sides. Storage types are two bytes and nothing more: arithmetic is
// fp32, see convert.cuh. Included by the preludes; templates include "common/types.cuh".

namespace strop {

using i8 = signed char;
using u8 = unsigned char;
using i16 = short;
using u16 = unsigned short;
using i32 = int;
using u32 = unsigned int;
using i64 = long long;
using u64 = unsigned long long;
static_assert(sizeof(i16) == 2 && sizeof(i32) == 4 && sizeof(i64) == 8 && sizeof(void*) == 8, "LP64 on both sides");

struct bf16 {
  u16 bits;
};
struct fp16 {
  u16 bits;
};
static_assert(sizeof(bf16) == 2 && sizeof(fp16) == 2, "as stored in memory");

// How a load or store of global memory treats the caches. Loads other than `plain` go through the read-only path:
// nothing may write those bytes while the kernel runs. They keep their order among each other.
enum class Load { plain, read_only, streaming, no_allocate, prefetch_256 };
enum class Store { plain, streaming };

// The raw word of 1, 2, 4, 8 or 16 bytes: one memory transaction, aligned to its size.
template <int Bytes>
struct RawOf;
template <>
struct RawOf<1> {
  using Type = u8;
};
template <>
struct RawOf<2> {
  using Type = u16;
};
template <>
struct RawOf<4> {
  using Type = u32;
};
template <>
struct RawOf<8> {
  using Type = uint2;
};
template <>
struct RawOf<16> {
  using Type = uint4;
};
template <int Bytes>
using Raw = typename RawOf<Bytes>::Type;

}  // namespace strop
