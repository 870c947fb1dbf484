#pragma once

// An entry point in a loaded shared object, checked to speak this runtime's version.

#include <string>

#include "src/device/device.h"
#include "src/device/host/shared_object.h"
#include "templates/common/host/abi.h"

namespace strop::device::host {

class HostKernel final : public LoadedKernel {
 public:
  // Throws CudaError when the object has no such entry or was compiled for another version.
  HostKernel(std::string_view binary, std::string_view entry, unsigned dynamic_shared);

  const std::string& name() const { return name_; }
  ::strop::host::EntryFn entry() const { return entry_; }
  const ::strop::host::KernelInfo& info() const { return info_; }
  unsigned dynamic_shared() const { return dynamic_shared_; }  // most that a launch may ask for

 private:
  SharedObject object_;
  std::string name_;
  ::strop::host::EntryFn entry_ = nullptr;
  ::strop::host::KernelInfo info_{};
  unsigned dynamic_shared_ = 0;
};

}  // namespace strop::device::host
