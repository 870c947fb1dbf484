#pragma once

// Five small kernels as PTX text, so that the device's tests need no compiler. Each takes one struct; what it does in
// CUDA C++ stands above it. Made by nvcc, shortened by hand.

#include <cstdint>
#include <string>

namespace strop::device {

struct AddArgs {
  const float* a;
  const float* b;
  float* c;
  std::int32_t n;
};
struct CopyArgs {
  const void* from;
  void* to;
  std::int64_t n;  // of 16 bytes each
};
struct ReverseArgs {
  std::int32_t* out;
  std::int32_t last;  // index of the last 4-byte word of dynamic shared memory
};
struct StrayArgs {
  std::int32_t* at;
};
struct WaitArgs {
  std::int64_t nanoseconds;
};

inline const char* const kKernelBodies = R"(
.address_size 64
.extern .shared .align 16 .b8 words[];

// if (i < n) c[i] = a[i] + b[i];
.visible .entry add(.param .align 8 .b8 args[32]) {
  .reg .pred %p1;
  .reg .f32 %f<4>;
  .reg .b32 %r<5>;
  .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [args];
  ld.param.u64 %rd2, [args+8];
  ld.param.u64 %rd3, [args+16];
  ld.param.u32 %r1, [args+24];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.u32 %r2, %r2, %r3, %r4;
  setp.ge.u32 %p1, %r2, %r1;
  @%p1 bra DONE;
  mul.wide.u32 %rd4, %r2, 4;
  add.s64 %rd5, %rd1, %rd4;
  add.s64 %rd6, %rd2, %rd4;
  add.s64 %rd7, %rd3, %rd4;
  ld.global.f32 %f1, [%rd5];
  ld.global.f32 %f2, [%rd6];
  add.f32 %f3, %f1, %f2;
  st.global.f32 [%rd7], %f3;
DONE:
  ret;
}

// if (i < n) to[i] = from[i];    (16 bytes)
.visible .entry copy16(.param .align 8 .b8 args[24]) {
  .reg .pred %p1;
  .reg .b32 %r<8>;
  .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [args];
  ld.param.u64 %rd2, [args+8];
  ld.param.u64 %rd3, [args+16];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.wide.u32 %rd4, %r1, %r2, 0;
  cvt.u64.u32 %rd5, %r3;
  add.s64 %rd4, %rd4, %rd5;
  setp.ge.s64 %p1, %rd4, %rd3;
  @%p1 bra DONE;
  shl.b64 %rd4, %rd4, 4;
  add.s64 %rd6, %rd1, %rd4;
  add.s64 %rd7, %rd2, %rd4;
  ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%rd6];
  st.global.v4.u32 [%rd7], {%r4, %r5, %r6, %r7};
DONE:
  ret;
}

// words[last - t] = t; __syncthreads(); out[t] = words[last - (blockDim - 1 - t)];    (out[t] is blockDim - 1 - t)
.visible .entry reverse(.param .align 8 .b8 args[16]) {
  .reg .b32 %r<10>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [args];
  ld.param.u32 %r1, [args+8];
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, words;
  sub.s32 %r4, %r1, %r2;
  mad.lo.s32 %r5, %r4, 4, %r3;
  st.shared.u32 [%r5], %r2;
  bar.sync 0;
  mov.u32 %r6, %ntid.x;
  sub.s32 %r7, %r1, %r6;
  add.s32 %r7, %r7, 1;
  add.s32 %r7, %r7, %r2;
  mad.lo.s32 %r8, %r7, 4, %r3;
  ld.shared.u32 %r9, [%r8];
  mul.wide.u32 %rd2, %r2, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r9;
  ret;
}

// *at = 1;
.visible .entry stray(.param .align 8 .b8 args[8]) {
  .reg .b32 %r1;
  .reg .b64 %rd1;
  ld.param.u64 %rd1, [args];
  mov.u32 %r1, 1;
  st.global.u32 [%rd1], %r1;
  ret;
}

// until (globaltimer - begin >= nanoseconds) {}
.visible .entry wait_long(.param .align 8 .b8 args[8]) {
  .reg .pred %p1;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [args];
  mov.u64 %rd2, %globaltimer;
AGAIN:
  mov.u64 %rd3, %globaltimer;
  sub.s64 %rd3, %rd3, %rd2;
  setp.lt.s64 %p1, %rd3, %rd1;
  @%p1 bra AGAIN;
  ret;
}
)";

inline std::string test_kernels() { return std::string(".version 7.0\n.target sm_70\n") + kKernelBodies; }
// Clusters and programmatic launches are words of this target.
inline std::string test_kernels_for_hopper() { return std::string(".version 7.8\n.target sm_90\n") + kKernelBodies; }

}  // namespace strop::device
