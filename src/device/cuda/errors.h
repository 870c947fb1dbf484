#pragma once

// A driver's answer to an exception. Out of memory is OutOfMemory (the context stays usable), everything else CudaError
// with the code, its name, the call and what to do about it.

#include <string>
#include <string_view>

#include "src/device/cuda/driver.h"

namespace strop::device::cuda {

// `detail` is added to the message: what was asked for.
[[noreturn]] void throw_error(CUresult result, const char* call, std::string_view detail = {});

inline void check(CUresult result, const char* call) {
  if (result != CUDA_SUCCESS) [[unlikely]]
    throw_error(result, call);
}

// For destructors: logs instead, and says nothing when the driver is already gone at the end of the process.
void check_quietly(CUresult result, const char* call) noexcept;

// "cuMemAlloc answered 2 (CUDA_ERROR_OUT_OF_MEMORY: out of memory)".
std::string describe(CUresult result, const char* call);

}  // namespace strop::device::cuda
