#pragma once

// The CUDA driver, opened at run time: a table of its functions, and why there is none. The only file that includes
// cuda.h; nothing of CUDA is linked, and nothing happens when the program is loaded. `libcuda` is opened once, at the
// first question, and never closed (the driver keeps threads and exit handlers). Thread-safe.
//
// A process that forks after cuInit has a broken driver in the child: every question there is answered with a sentence.

#include <cuda.h>
#include <cudaTypedefs.h>

#include <string>

#include "src/device/device.h"

namespace strop::device::cuda {

// name, and the CUDA version whose signature is meant (10 * minor + 1000 * major): it names the PFN type, and is what
// cuGetProcAddress is asked for, so that an older driver is refused only for what it really lacks.
#define STROP_CUDA_REQUIRED(X)                \
  X(cuInit, 2000)                             \
  X(cuDriverGetVersion, 2020)                 \
  X(cuGetErrorName, 6000)                     \
  X(cuGetErrorString, 6000)                   \
  X(cuDeviceGetCount, 2000)                   \
  X(cuDeviceGet, 2000)                        \
  X(cuDeviceGetName, 2000)                    \
  X(cuDeviceGetUuid, 11040)                   \
  X(cuDeviceGetAttribute, 2000)               \
  X(cuDeviceTotalMem, 3020)                   \
  X(cuDevicePrimaryCtxRetain, 7000)           \
  X(cuDevicePrimaryCtxRelease, 11000)         \
  X(cuCtxGetCurrent, 4000)                    \
  X(cuCtxPushCurrent, 4000)                   \
  X(cuCtxPopCurrent, 4000)                    \
  X(cuModuleLoadDataEx, 2010)                 \
  X(cuModuleUnload, 2000)                     \
  X(cuModuleGetFunction, 2000)                \
  X(cuFuncSetAttribute, 9000)                 \
  X(cuFuncGetAttribute, 2020)                 \
  X(cuLaunchKernel, 4000)                     \
  X(cuLaunchKernelEx, 11060)                  \
  X(cuMemAlloc, 3020)                         \
  X(cuMemFree, 3020)                          \
  X(cuMemGetInfo, 3020)                       \
  X(cuMemHostAlloc, 2020)                     \
  X(cuMemFreeHost, 2000)                      \
  X(cuMemHostGetDevicePointer, 3020)          \
  X(cuMemcpyHtoDAsync, 3020)                  \
  X(cuMemcpyDtoHAsync, 3020)                  \
  X(cuMemcpyDtoDAsync, 3020)                  \
  X(cuMemsetD8Async, 3020)                    \
  X(cuPointerGetAttributes, 7000)             \
  X(cuStreamCreate, 2000)                     \
  X(cuStreamDestroy, 4000)                    \
  X(cuStreamSynchronize, 2000)                \
  X(cuStreamIsCapturing, 10000)               \
  X(cuThreadExchangeStreamCaptureMode, 10010) \
  X(cuEventCreate, 2000)                      \
  X(cuEventDestroy, 4000)                     \
  X(cuEventRecord, 2000)                      \
  X(cuEventQuery, 2000)                       \
  X(cuEventElapsedTime, 2000)

// Null where the driver does not know them.
#define STROP_CUDA_OPTIONAL(X) \
  X(cuFuncLoad, 12040)         \
  X(cuFuncGetParamInfo, 12040) \
  X(cuStreamWaitValue32, 11070)

struct Driver {
#define STROP_CUDA_MEMBER(name, version) PFN_##name##_v##version name = nullptr;
  STROP_CUDA_REQUIRED(STROP_CUDA_MEMBER)
  STROP_CUDA_OPTIONAL(STROP_CUDA_MEMBER)
#undef STROP_CUDA_MEMBER
};

// The oldest driver API that will do: cuGetProcAddress_v2 came with it.
inline constexpr int kOldestDriverApi = 12000;

// Opens the library at the first call. `probe().status` says whether `driver()` may be called. Never throws.
const CudaProbe& probe();
// The table; throws strop::Error with the probe's reason when there is none, or when this process is a fork's child.
const Driver& driver();
// The table for code that holds an object of the device, so that it exists. No check but the fork's, which is one load.
const Driver& opened();
// True in the child of a process that had opened the driver: nothing may be called there, not even to release.
bool forked() noexcept;

}  // namespace strop::device::cuda
