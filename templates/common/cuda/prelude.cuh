#pragma once

// The CUDA side of the dialect: what a generated translation unit includes before the template. Needs no toolkit
// header: NVRTC itself supplies thread indices, vector types, shuffles, atomics and the fp32 functions. Inline PTX
// lives in this folder only; every wrapper has its twin under common/host with the same name and meaning.
// `common/host/prelude.h` is the other side.

#define STROP_SIDE_CUDA 1

#define STROP_UNROLL _Pragma("unroll")
#define STROP_PRAGMA_TEXT(text) _Pragma(#text)
#define STROP_UNROLL_BY(n) STROP_PRAGMA_TEXT(unroll n)

// Static shared memory, 128-byte aligned: `STROP_SHARED(float, tile, 32 * 33);` declares an array `tile`.
#define STROP_SHARED(type, name, n) __shared__ __align__(128) type name[n]
// All of the launch's dynamic shared memory as `type* name`.
#define STROP_DYNAMIC_SHARED(type, name)                                       \
  extern __shared__ __align__(128) unsigned char strop_dynamic_shared_bytes[]; \
  type* name = reinterpret_cast<type*>(strop_dynamic_shared_bytes)

// The entry point: `fn(args)` for each thread. `Args` is passed by value and stays in constant memory.
#define STROP_ENTRY(entry, Args, threads, min_blocks, fn)                                                      \
  extern "C" __global__ void __launch_bounds__(threads, min_blocks) entry(const __grid_constant__ Args args) { \
    fn(args);                                                                                                  \
  }

#include "common/cuda/async_copy.cuh"
#include "common/cuda/bulk_copy.cuh"
#include "common/cuda/convert.cuh"
#include "common/cuda/math.cuh"
#include "common/cuda/matrix.cuh"
#include "common/cuda/memory.cuh"
#include "common/cuda/sync.cuh"
#include "common/cuda/wgmma.cuh"
#include "common/scalars.cuh"
#include "common/shared_objects.cuh"
