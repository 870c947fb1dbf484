#pragma once

// One launch, as the blocks see it. Plain data, alive until the launch returns.

#include <cstddef>
#include <string>

#include "src/device/host/run_options.h"
#include "strop/error.h"
#include "templates/common/host/abi.h"

namespace strop::device::host {

namespace abi = ::strop::host;

struct Grid {
  std::string kernel;  // for reports
  abi::EntryFn entry = nullptr;
  void (*bind)(abi::Context*) = nullptr;
  const void* arguments = nullptr;
  abi::Index3 size{1, 1, 1};
  abi::Index3 block{1, 1, 1};
  unsigned dynamic_shared = 0;
  std::size_t shared_limit = 0;  // static and dynamic together
  RunOptions options;
};

// A kernel did what would be a fault, a hang or undefined on a GPU. The device stays usable.
class KernelFault : public Error {
 public:
  using Error::Error;
};

}  // namespace strop::device::host
