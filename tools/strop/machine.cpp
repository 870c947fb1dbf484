#include "tools/strop/machine.h"

#include <fmt/format.h>

#include "src/base/log.h"
#include "src/base/version.h"
#include "src/device/cuda_facts.h"
#include "src/device/device.h"
#include "src/engine/parts.h"
#include "src/ops/op.h"

namespace strop::cli {
namespace {

bool is_host(const cache::Winner& winner) { return winner.id.device_class.starts_with("kind=host"); }

std::vector<DeviceFacts> facts_of_all_cuda() {
  std::vector<DeviceFacts> found;
  const auto probe = device::probe_cuda();
  if (probe.status != device::CudaStatus::ok) return found;
  for (int ordinal = 0; ordinal < probe.devices; ++ordinal) {
    try {
      found.push_back(device::cuda_facts(ordinal));
    } catch (const Error& error) {
      log::warn(fmt::format("cuda:{} can't be asked: {}", ordinal, error.what()));
    }
  }
  return found;
}

}  // namespace

const std::vector<DeviceFacts>& Machine::cuda() {
  if (!cuda_) cuda_ = facts_of_all_cuda();
  return *cuda_;
}

const std::vector<DeviceFacts>& Machine::host() {
  if (!host_) {
    host_.emplace();
    try {
      host_->push_back(device::open_host()->facts());
    } catch (const Error& error) {
      log::warn(fmt::format("the host device can't be opened: {}", error.what()));
    }
  }
  return *host_;
}

const DeviceFacts* Machine::device_of(const cache::Winner& winner) {
  for (const auto& facts : is_host(winner) ? host() : cuda()) {
    if (facts.device_class() == winner.id.device_class) return &facts;
  }
  return nullptr;
}

engine::EntryState Machine::state_of(const cache::Winner& winner) {
  const auto* facts = device_of(winner);
  const auto here = facts == nullptr ? cache::Environment{} : environment_of(*facts);
  return engine::state_of(winner, here, template_digest_of(winner.id.kernel, is_host(winner)));
}

bool Machine::outdated(const cache::Winner& winner) {
  const auto digest = template_digest_of(winner.id.kernel, is_host(winner));
  return !digest.empty() && digest != winner.id.template_digest;
}

std::string Machine::template_digest_of(const std::string& kernel, bool host) {
  const auto [at, is_new] = digests_.try_emplace({kernel, host});
  if (is_new) {
    if (const auto* found = find_kernel(kernel)) at->second = engine::template_digest(*found, host);
  }
  return at->second;
}

std::string device_word(const DeviceFacts& facts) {
  return facts.kind == DeviceKind::host ? "host" : fmt::format("cuda:{}", facts.ordinal);
}

cache::Environment environment_of(const DeviceFacts& facts) {
  cache::Environment here;
  here.device_class = facts.device_class();
  here.device_name = facts.name;
  here.driver = facts.driver;
  here.driver_user_mode = facts.driver_user_mode;
  here.compiler = "unknown";
  here.strop_version = kVersion;
  here.device_uuid = facts.uuid;
  return here;
}

const Kernel* find_kernel(const std::string& name) {
  for (const auto* op : ops::all()) {
    for (const auto* kernel : op->kernels()) {
      if (kernel->source.name == name) return kernel;
    }
  }
  return nullptr;
}

}  // namespace strop::cli
