#include "src/device/cuda/errors.h"

#include <fmt/format.h>

#include "src/base/log.h"
#include "strop/error.h"

namespace strop::device::cuda {
namespace {

std::string name_of(CUresult result) {
  const char* name = nullptr;
  opened().cuGetErrorName(result, &name);
  return name != nullptr ? name : "unknown error";
}

std::string_view remedy(CUresult result) {
  switch (result) {
    case CUDA_ERROR_INVALID_VALUE:
      return "an argument or a launch limit is out of range (grid, block, dynamic shared memory)";
    case CUDA_ERROR_INVALID_CONTEXT:
    case CUDA_ERROR_INVALID_HANDLE:
      return "the stream or kernel belongs to another context or device, or was destroyed";
    case CUDA_ERROR_NO_BINARY_FOR_GPU:
      return "the binary was compiled for another architecture: compile it for this device";
    case CUDA_ERROR_INVALID_IMAGE:
    case CUDA_ERROR_INVALID_PTX:
    case CUDA_ERROR_INVALID_SOURCE:
      return "the binary is damaged or is not a cubin: compile it again";
    case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
      return "the PTX is newer than the driver: compile to a cubin, or upgrade the driver";
    case CUDA_ERROR_NOT_FOUND:
      return "the binary has no such entry point";
    case CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES:
      return "the kernel needs more registers or threads than a block may have: use a smaller block or launch bounds";
    case CUDA_ERROR_INVALID_CLUSTER_SIZE:
      return "the cluster is larger than this device and kernel allow";
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
      return "a kernel read or wrote where it must not; the context is lost, restart the process (compute-sanitizer "
             "finds the kernel)";
    case CUDA_ERROR_LAUNCH_FAILED:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
      return "a kernel failed; the context is lost, restart the process (compute-sanitizer finds the kernel)";
    case CUDA_ERROR_LAUNCH_TIMEOUT:
      return "a kernel did not end in time; the context is lost, restart the process";
    case CUDA_ERROR_ECC_UNCORRECTABLE:
      return "the GPU's memory has a fault: take the GPU out of service";
    case CUDA_ERROR_NVLINK_UNCORRECTABLE:
      return "a link between GPUs has a fault; the context is lost, restart the process";
    case CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED:
    case CUDA_ERROR_STREAM_CAPTURE_IMPLICIT:
    case CUDA_ERROR_STREAM_CAPTURE_INVALIDATED:
      return "a stream is being captured: warm up before the capture begins";
    case CUDA_ERROR_DEVICE_UNAVAILABLE:
      return "another process holds the GPU in exclusive mode";
    case CUDA_ERROR_DEINITIALIZED:
      return "the process is ending";
    default:
      return "";
  }
}

}  // namespace

std::string describe(CUresult result, const char* call) {
  const char* text = nullptr;
  opened().cuGetErrorString(result, &text);
  return fmt::format("{} answered {} ({}: {})", call, static_cast<int>(result), name_of(result),
                     text != nullptr ? text : "no text");
}

void throw_error(CUresult result, const char* call, std::string_view detail) {
  std::string what = describe(result, call);
  if (!detail.empty()) what += fmt::format(", {}", detail);
  if (result == CUDA_ERROR_OUT_OF_MEMORY) throw OutOfMemory(what + "; free device memory, or ask for less");
  if (const auto todo = remedy(result); !todo.empty()) what += fmt::format("; {}", todo);
  throw CudaError(static_cast<int>(result), name_of(result), call, what);
}

void check_quietly(CUresult result, const char* call) noexcept {
  if (result == CUDA_SUCCESS || result == CUDA_ERROR_DEINITIALIZED || forked()) return;
  try {
    log::warn(describe(result, call));
  } catch (...) {  // a destructor has nobody to tell that it could not log
  }
}

}  // namespace strop::device::cuda
