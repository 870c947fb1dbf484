#include "src/device/host/host_kernel.h"

#include <fmt/format.h>

#include "src/device/host/refusal.h"

namespace strop::device::host {

namespace abi = ::strop::host;

HostKernel::HostKernel(std::string_view binary, std::string_view entry, unsigned dynamic_shared)
    : object_(binary), name_(entry), dynamic_shared_(dynamic_shared) {
  entry_ = reinterpret_cast<abi::EntryFn>(object_.symbol(name_));
  const auto describe = reinterpret_cast<abi::InfoFn>(object_.symbol(name_ + "_info"));
  if (!entry_ || !describe) throw refusal(kNotFound, "load", fmt::format("the binary has no entry '{}'", name_));
  describe(&info_);
  if (info_.version != abi::kVersion)
    throw refusal(kInvalidImage, "load",
                  fmt::format("'{}' was compiled for version {} of the host runtime, this is version {}", name_,
                              info_.version, abi::kVersion));
}

}  // namespace strop::device::host
