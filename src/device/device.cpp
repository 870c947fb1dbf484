#include "src/device/device.h"

#include <fmt/format.h>

#include "src/base/format.h"
#include "src/base/log.h"
#include "src/base/settings.h"
#include "strop/error.h"

namespace strop::device {
namespace {

// A machine without a GPU is a normal day; one whose GPU can't be used is told about it.
std::unique_ptr<Device> open_best() {
  const CudaProbe found = probe_cuda();
  if (found.status == CudaStatus::ok) return open_cuda(0);
  const std::string line = fmt::format("using the host device: {}", found.reason);
  if (found.status == CudaStatus::too_old || found.status == CudaStatus::failed) {
    log::warn(line);
  } else {
    log::info(line);
  }
  return open_host();
}

}  // namespace

std::unique_ptr<Device> open(const std::string& name) {
  if (name == "auto") {
    const std::string chosen = settings::text("device").value_or("auto");
    return chosen == "auto" ? open_best() : open(chosen);
  }
  if (name == "host") return open_host();
  if (name == "cuda") return open_cuda(0);
  constexpr std::string_view kNumbered = "cuda:";
  if (name.starts_with(kNumbered)) {
    const auto ordinal = to_int(std::string_view(name).substr(kNumbered.size()));
    if (ordinal && *ordinal >= 0 && *ordinal < 1024) return open_cuda(static_cast<int>(*ordinal));
  }
  throw Error(fmt::format(
      "there is no device '{}': choose auto, cuda, cuda:N (N counts the visible GPUs from 0) or host", name));
}

}  // namespace strop::device
