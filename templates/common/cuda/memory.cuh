#pragma once

// One raw word from or to memory, with cache hints. `plain` works on any memory, the others on global memory only.

#include "common/scalars.cuh"

namespace strop {

// `Q` is what follows "ld.global" in the instruction. Volatile without a memory clobber: the loads keep their order
// among each other (all loads of a strip before its arithmetic is the point), the compiler may still move plain
// accesses across.
#define STROP_LOADS_WITH(NAME, Q)                                                                              \
  __device__ __forceinline__ void NAME(u8& v, const u8* p) {                                                   \
    u16 wide;                                                                                                  \
    asm volatile("ld.global" Q ".u8 %0, [%1];" : "=h"(wide) : "l"(p));                                         \
    v = static_cast<u8>(wide);                                                                                 \
  }                                                                                                            \
  __device__ __forceinline__ void NAME(u16& v, const u16* p) {                                                 \
    asm volatile("ld.global" Q ".u16 %0, [%1];" : "=h"(v) : "l"(p));                                           \
  }                                                                                                            \
  __device__ __forceinline__ void NAME(u32& v, const u32* p) {                                                 \
    asm volatile("ld.global" Q ".u32 %0, [%1];" : "=r"(v) : "l"(p));                                           \
  }                                                                                                            \
  __device__ __forceinline__ void NAME(uint2& v, const uint2* p) {                                             \
    asm volatile("ld.global" Q ".v2.u32 {%0, %1}, [%2];" : "=r"(v.x), "=r"(v.y) : "l"(p));                     \
  }                                                                                                            \
  __device__ __forceinline__ void NAME(uint4& v, const uint4* p) {                                             \
    asm volatile("ld.global" Q ".v4.u32 {%0, %1, %2, %3}, [%4];"                                               \
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)                                                  \
                 : "l"(p));                                                                                    \
  }                                                                                                            \
  __device__ __forceinline__ void NAME##_if(u8& v, const u8* p, int valid) {                                   \
    u16 wide;                                                                                                  \
    asm volatile("{\n.reg .pred q;\nsetp.ne.s32 q, %2, 0;\nmov.u16 %0, 0;\n@q ld.global" Q ".u8 %0, [%1];\n}"  \
                 : "=&h"(wide)                                                                                 \
                 : "l"(p), "r"(valid));                                                                        \
    v = static_cast<u8>(wide);                                                                                 \
  }                                                                                                            \
  __device__ __forceinline__ void NAME##_if(u16& v, const u16* p, int valid) {                                 \
    asm volatile("{\n.reg .pred q;\nsetp.ne.s32 q, %2, 0;\nmov.u16 %0, 0;\n@q ld.global" Q ".u16 %0, [%1];\n}" \
                 : "=&h"(v)                                                                                    \
                 : "l"(p), "r"(valid));                                                                        \
  }                                                                                                            \
  __device__ __forceinline__ void NAME##_if(u32& v, const u32* p, int valid) {                                 \
    asm volatile("{\n.reg .pred q;\nsetp.ne.s32 q, %2, 0;\nmov.u32 %0, 0;\n@q ld.global" Q ".u32 %0, [%1];\n}" \
                 : "=&r"(v)                                                                                    \
                 : "l"(p), "r"(valid));                                                                        \
  }                                                                                                            \
  __device__ __forceinline__ void NAME##_if(uint2& v, const uint2* p, int valid) {                             \
    asm volatile("{\n.reg .pred q;\nsetp.ne.s32 q, %3, 0;\nmov.u32 %0, 0;\nmov.u32 %1, 0;\n@q ld.global" Q     \
                 ".v2.u32 {%0, %1}, [%2];\n}"                                                                  \
                 : "=&r"(v.x), "=&r"(v.y)                                                                      \
                 : "l"(p), "r"(valid));                                                                        \
  }                                                                                                            \
  __device__ __forceinline__ void NAME##_if(uint4& v, const uint4* p, int valid) {                             \
    asm volatile(                                                                                              \
        "{\n.reg .pred q;\nsetp.ne.s32 q, %5, 0;\nmov.u32 %0, 0;\nmov.u32 %1, 0;\nmov.u32 %2, 0;\n"            \
        "mov.u32 %3, 0;\n@q ld.global" Q ".v4.u32 {%0, %1, %2, %3}, [%4];\n}"                                  \
        : "=&r"(v.x), "=&r"(v.y), "=&r"(v.z), "=&r"(v.w)                                                       \
        : "l"(p), "r"(valid));                                                                                 \
  }
namespace cuda {
STROP_LOADS_WITH(load_read_only, ".nc")
STROP_LOADS_WITH(load_streaming, ".cs.nc")
STROP_LOADS_WITH(load_no_allocate, ".nc.L1::no_allocate")
STROP_LOADS_WITH(load_prefetch_256, ".nc.L2::256B")
}  // namespace cuda
#undef STROP_LOADS_WITH

template <Load H, class Word>
__device__ __forceinline__ Word load_raw(const Word* p) {
  Word v;
  if constexpr (H == Load::plain) v = *p;
  if constexpr (H == Load::read_only) cuda::load_read_only(v, p);
  if constexpr (H == Load::streaming) cuda::load_streaming(v, p);
  if constexpr (H == Load::no_allocate) cuda::load_no_allocate(v, p);
  if constexpr (H == Load::prefetch_256) cuda::load_prefetch_256(v, p);
  return v;
}
// Zero where `valid` is false; `p` is not read then.
template <Load H, class Word>
__device__ __forceinline__ Word load_raw_if(const Word* p, bool valid) {
  Word v{};
  if constexpr (H == Load::plain) {
    if (valid) v = *p;
  }
  if constexpr (H == Load::read_only) cuda::load_read_only_if(v, p, valid);
  if constexpr (H == Load::streaming) cuda::load_streaming_if(v, p, valid);
  if constexpr (H == Load::no_allocate) cuda::load_no_allocate_if(v, p, valid);
  if constexpr (H == Load::prefetch_256) cuda::load_prefetch_256_if(v, p, valid);
  return v;
}

namespace cuda {
__device__ __forceinline__ void store_streaming(u8* p, u8 v) {
  asm volatile("st.global.cs.u8 [%0], %1;" ::"l"(p), "h"(static_cast<u16>(v)) : "memory");
}
__device__ __forceinline__ void store_streaming(u16* p, u16 v) {
  asm volatile("st.global.cs.u16 [%0], %1;" ::"l"(p), "h"(v) : "memory");
}
__device__ __forceinline__ void store_streaming(u32* p, u32 v) {
  asm volatile("st.global.cs.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
}
__device__ __forceinline__ void store_streaming(uint2* p, uint2 v) {
  asm volatile("st.global.cs.v2.u32 [%0], {%1, %2};" ::"l"(p), "r"(v.x), "r"(v.y) : "memory");
}
__device__ __forceinline__ void store_streaming(uint4* p, uint4 v) {
  asm volatile("st.global.cs.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(p), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w)
               : "memory");
}
}  // namespace cuda

template <Store H, class Word>
__device__ __forceinline__ void store_raw(Word* p, Word v) {
  if constexpr (H == Store::streaming) {
    cuda::store_streaming(p, v);
  } else {
    *p = v;
  }
}

// `Q` is what follows "st.global" in the instruction. Without a memory clobber: what is stored so is not read again by this kernel, and
// accesses to shared memory may move across.
#define STROP_STORES_WITH(NAME, Q)                                                                                     \
  __device__ __forceinline__ void NAME(u8* p, u8 v, int valid) {                                                       \
    asm volatile("{\n.reg .pred q;\nsetp.ne.s32 q, %2, 0;\n@q st.global" Q ".u8 [%0], %1;\n}" ::"l"(p),               \
                 "h"(static_cast<u16>(v)), "r"(valid));                                                                \
  }                                                                                                                    \
  __device__ __forceinline__ void NAME(u16* p, u16 v, int valid) {                                                     \
    asm volatile("{\n.reg .pred q;\nsetp.ne.s32 q, %2, 0;\n@q st.global" Q ".u16 [%0], %1;\n}" ::"l"(p), "h"(v),       \
                 "r"(valid));                                                                                          \
  }                                                                                                                    \
  __device__ __forceinline__ void NAME(u32* p, u32 v, int valid) {                                                     \
    asm volatile("{\n.reg .pred q;\nsetp.ne.s32 q, %2, 0;\n@q st.global" Q ".u32 [%0], %1;\n}" ::"l"(p), "r"(v),       \
                 "r"(valid));                                                                                          \
  }                                                                                                                    \
  __device__ __forceinline__ void NAME(uint2* p, uint2 v, int valid) {                                                 \
    asm volatile("{\n.reg .pred q;\nsetp.ne.s32 q, %3, 0;\n@q st.global" Q ".v2.u32 [%0], {%1, %2};\n}" ::"l"(p),     \
                 "r"(v.x), "r"(v.y), "r"(valid));                                                                      \
  }                                                                                                                    \
  __device__ __forceinline__ void NAME(uint4* p, uint4 v, int valid) {                                                 \
    asm volatile("{\n.reg .pred q;\nsetp.ne.s32 q, %5, 0;\n@q st.global" Q ".v4.u32 [%0], {%1, %2, %3, %4};\n}" ::"l"( \
                     p),                                                                                               \
                 "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w), "r"(valid));                                                  \
  }
namespace cuda {
STROP_STORES_WITH(store_plain_if, "")
STROP_STORES_WITH(store_streaming_if, ".cs")
}  // namespace cuda
#undef STROP_STORES_WITH

// Nothing where `valid` is false. A predicate on the store alone: an `if` around it takes the arithmetic before it along into a branch,
// and what stands between two branches is scheduled by itself. Global memory only.
template <Store H, class Word>
__device__ __forceinline__ void store_raw_if(Word* p, Word v, bool valid) {
  if constexpr (H == Store::streaming) cuda::store_streaming_if(p, v, valid);
  else cuda::store_plain_if(p, v, valid);
}

}  // namespace strop
