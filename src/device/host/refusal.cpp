#include "src/device/host/refusal.h"

#include <fmt/format.h>

namespace strop::device::host {
namespace {

const char* symbol(int code) {
  switch (code) {
    case kInvalidValue:
      return "CUDA_ERROR_INVALID_VALUE";
    case kInvalidImage:
      return "CUDA_ERROR_INVALID_IMAGE";
    case kNotFound:
      return "CUDA_ERROR_NOT_FOUND";
    case kNotSupported:
      return "CUDA_ERROR_NOT_SUPPORTED";
    default:
      return "CUDA_ERROR_UNKNOWN";
  }
}

}  // namespace

CudaError refusal(int code, const char* call, const std::string& what) {
  return CudaError(code, symbol(code), call, fmt::format("host device: {}: {} ({})", call, what, symbol(code)));
}

}  // namespace strop::device::host
