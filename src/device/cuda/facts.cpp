#include "src/device/cuda/facts.h"

#include <fmt/format.h>

#include <array>

#include "src/device/cuda/errors.h"
#include "src/device/cuda/identity.h"

namespace strop::device::cuda {
namespace {

std::string name_of(CUdevice device) {
  std::array<char, 256> name{};
  check(driver().cuDeviceGetName(name.data(), static_cast<int>(name.size()) - 1, device), "cuDeviceGetName");
  return name.data();
}

std::size_t memory_of(CUdevice device) {
  std::size_t bytes = 0;
  check(driver().cuDeviceTotalMem(&bytes, device), "cuDeviceTotalMem");
  return bytes;
}

// Without NVML a slice is still told by its name: "NVIDIA H200 MIG 1g.18gb".
std::string mig_profile(const std::string& name, const NvmlDevice& nvml) {
  if (auto profile = nvml.mig_profile(); !profile.empty()) return profile;
  const auto at = name.find(" MIG ");
  return at == std::string::npos ? std::string() : name.substr(at + 5);
}

}  // namespace

std::string uuid_text(CUdevice device) {
  CUuuid uuid{};
  check(driver().cuDeviceGetUuid(&uuid, device), "cuDeviceGetUuid");
  std::string text;
  for (int i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", static_cast<unsigned char>(uuid.bytes[i]));
  }
  return text;
}

int attribute(CUdevice device, CUdevice_attribute which) {
  int value = 0;
  check(driver().cuDeviceGetAttribute(&value, which, device), "cuDeviceGetAttribute");
  return value;
}

DeviceFacts read_facts(CUdevice device, int ordinal, const NvmlDevice& nvml) {
  const auto ask = [device](CUdevice_attribute which) { return attribute(device, which); };
  DeviceFacts facts;
  facts.kind = DeviceKind::cuda;
  facts.ordinal = ordinal;
  facts.name = name_of(device);
  facts.uuid = uuid_text(device);
  facts.arch = fmt::format("sm_{}{}", ask(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
                           ask(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
  facts.mig_profile = mig_profile(facts.name, nvml);
  facts.sm_count = ask(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  facts.warp_size = ask(CU_DEVICE_ATTRIBUTE_WARP_SIZE);
  facts.max_threads_per_block = ask(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  facts.max_threads_per_sm = ask(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
  facts.registers_per_block = ask(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
  facts.shared_per_block = static_cast<std::size_t>(ask(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN));
  facts.shared_per_sm = static_cast<std::size_t>(ask(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR));
  facts.l2_bytes = static_cast<std::size_t>(ask(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE));
  facts.memory_bytes = memory_of(device);
  facts.memory_clock_khz = ask(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
  facts.memory_bus_bits = ask(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
  facts.max_grid_x = static_cast<unsigned>(ask(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X));
  facts.max_grid_y = static_cast<unsigned>(ask(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y));
  facts.max_grid_z = static_cast<unsigned>(ask(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z));
  const DriverVersions versions = driver_versions(probe().library);
  facts.driver = versions.kernel_mode;
  facts.driver_user_mode = versions.user_mode;
  facts.driver_api = probe().driver_api;
  return facts;
}

}  // namespace strop::device::cuda
