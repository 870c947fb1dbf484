#include "src/device/cuda/nvml.h"

#include <dlfcn.h>

#include <array>

#include "src/device/cuda/driver.h"

namespace strop::device::cuda {
namespace {

using Handle = void*;
// nvmlViolationTime_t.
struct ViolationTime {
  unsigned long long reference_us;
  unsigned long long violation_ns;
};

// NVML_INIT_FLAG_NO_GPUS | NVML_INIT_FLAG_NO_ATTACH: attaching every GPU of a node takes long, and one is asked for.
constexpr unsigned kInitLazily = 3;
constexpr int kPolicyPower = 0;
constexpr int kPolicyThermal = 1;
// SW power cap, HW slowdown, SW thermal slowdown, HW thermal slowdown, HW power brake.
constexpr unsigned long long kHeldDown = 0x4 | 0x8 | 0x20 | 0x40 | 0x80;

struct Nvml {
  int (*init)() = nullptr;
  int (*init_with_flags)(unsigned) = nullptr;
  int (*driver_version)(char*, unsigned) = nullptr;
  int (*by_uuid)(const char*, Handle*) = nullptr;
  int (*parent_of_slice)(Handle, Handle*) = nullptr;
  int (*name)(Handle, char*, unsigned) = nullptr;
  int (*clocks_reasons)(Handle, unsigned long long*) = nullptr;
  int (*violation)(Handle, int, ViolationTime*) = nullptr;
  bool usable = false;

  Nvml() {
    void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return;
    const auto fetch = [library]<class Function>(Function*& to, const char* symbol) {
      if (to == nullptr) to = reinterpret_cast<Function*>(dlsym(library, symbol));
    };
    fetch(init, "nvmlInit_v2");
    fetch(init_with_flags, "nvmlInitWithFlags");
    fetch(driver_version, "nvmlSystemGetDriverVersion");
    fetch(by_uuid, "nvmlDeviceGetHandleByUUID");
    fetch(parent_of_slice, "nvmlDeviceGetDeviceHandleFromMigDeviceHandle");
    fetch(name, "nvmlDeviceGetName");
    fetch(clocks_reasons, "nvmlDeviceGetCurrentClocksEventReasons");
    fetch(clocks_reasons, "nvmlDeviceGetCurrentClocksThrottleReasons");  // its name before driver 535
    fetch(violation, "nvmlDeviceGetViolationStatus");
    usable = (init_with_flags != nullptr && init_with_flags(kInitLazily) == 0) || (init != nullptr && init() == 0);
  }
};

// Null when there is no NVML, and in the child of a fork.
const Nvml* nvml() {
  static const Nvml* const one = new Nvml;
  return one->usable && !forked() ? one : nullptr;
}

}  // namespace

std::optional<std::string> nvml_driver_version() {
  const Nvml* library = nvml();
  std::array<char, 96> text{};
  if (library == nullptr || library->driver_version == nullptr) return std::nullopt;
  if (library->driver_version(text.data(), text.size()) != 0 || text[0] == '\0') return std::nullopt;
  return text.data();
}

NvmlDevice::NvmlDevice(const std::string& uuid) {
  const Nvml* library = nvml();
  if (library == nullptr || library->by_uuid == nullptr) return;
  if (library->by_uuid(("GPU-" + uuid).c_str(), &device_) == 0) {
    throttled();  // begins the counting
    return;
  }
  device_ = nullptr;
  if (library->by_uuid(("MIG-" + uuid).c_str(), &slice_) != 0) {
    slice_ = nullptr;
    return;
  }
  if (library->parent_of_slice == nullptr || library->parent_of_slice(slice_, &device_) != 0) device_ = nullptr;
  throttled();
}

std::string NvmlDevice::mig_profile() const {
  const Nvml* library = nvml();
  std::array<char, 128> text{};
  if (library == nullptr || slice_ == nullptr || library->name == nullptr) return {};
  if (library->name(slice_, text.data(), text.size()) != 0) return {};
  const std::string name = text.data();  // "NVIDIA H200 MIG 1g.18gb"
  const auto at = name.find("MIG ");
  return at == std::string::npos ? std::string() : name.substr(at + 4);
}

std::optional<std::uint64_t> NvmlDevice::violation_ns(int policy) const {
  const Nvml* library = nvml();
  ViolationTime time{};
  if (library == nullptr || library->violation == nullptr) return std::nullopt;
  if (library->violation(device_, policy, &time) != 0) return std::nullopt;
  return time.violation_ns;
}

std::optional<bool> NvmlDevice::throttled() {
  const Nvml* library = nvml();
  if (library == nullptr || device_ == nullptr || library->clocks_reasons == nullptr) return std::nullopt;
  unsigned long long reasons = 0;
  if (library->clocks_reasons(device_, &reasons) != 0) return std::nullopt;
  bool held_down = (reasons & kHeldDown) != 0;
  // The reasons are of this moment only; the counters tell of the time between two calls.
  const auto grew = [this](int policy, std::uint64_t& last) {
    const auto now = violation_ns(policy);
    const bool more = now.value_or(last) > last;
    last = now.value_or(last);
    return more;
  };
  held_down = grew(kPolicyPower, power_ns_) || held_down;
  held_down = grew(kPolicyThermal, thermal_ns_) || held_down;
  return held_down;
}

}  // namespace strop::device::cuda
