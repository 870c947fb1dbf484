#pragma once

// Refusals with the codes that a GPU's driver gives, so that callers need not know which device they have.

#include <string>

#include "strop/error.h"

namespace strop::device::host {

inline constexpr int kInvalidValue = 1;    // CUDA_ERROR_INVALID_VALUE
inline constexpr int kInvalidImage = 200;  // CUDA_ERROR_INVALID_IMAGE
inline constexpr int kNotFound = 500;      // CUDA_ERROR_NOT_FOUND
inline constexpr int kNotSupported = 801;  // CUDA_ERROR_NOT_SUPPORTED

CudaError refusal(int code, const char* call, const std::string& what);

}  // namespace strop::device::host
