#pragma once

// Opens one driver library and fills the table of its functions: the answer to "is there CUDA here?" in one typed
// status and one sentence with its remedy. No state: `probe()` and `driver()` keep the process's one answer
// (driver.cpp). Never throws.

#include <optional>
#include <string>

#include "src/device/cuda/driver.h"

namespace strop::device::cuda {

struct Opened {
  CudaProbe probe;
  Driver driver;
};

// `library`: the setting STROP_LIBCUDA (a file, or the folder it is in); empty: the loader's search, then known
// folders.
Opened open_driver(const std::optional<std::string>& library);

// "13.0" for 13000.
std::string api_text(int version);

}  // namespace strop::device::cuda
