#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <thread>

#include "src/device/host/host_device.h"
#include "templates/common/host/abi.h"

namespace strop::device::host {
namespace {

constexpr std::size_t kSharedPerBlock = std::size_t{227} * 1024;  // as on the chips that the templates are written for
constexpr std::size_t kSharedPerSm = std::size_t{228} * 1024;

std::string cpu_model() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (!line.starts_with("model name")) continue;
    const std::size_t at = line.find_first_not_of(" \t", line.find(':') + 1);
    if (at != std::string::npos) return line.substr(at);
  }
  return "unknown CPU";
}

std::size_t positive(long value) { return value > 0 ? static_cast<std::size_t>(value) : 0; }

}  // namespace

DeviceFacts host_facts() {
  DeviceFacts facts;
  facts.kind = DeviceKind::host;
  facts.name = cpu_model();
#if defined(__x86_64__)
  facts.arch = "x86_64";
#elif defined(__aarch64__)
  facts.arch = "aarch64";
#else
  facts.arch = "unknown";
#endif
  facts.sm_count = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  facts.shared_per_block = kSharedPerBlock;
  facts.shared_per_sm = kSharedPerSm;
  facts.l2_bytes = positive(sysconf(_SC_LEVEL2_CACHE_SIZE));
  facts.memory_bytes = positive(sysconf(_SC_PHYS_PAGES)) * positive(sysconf(_SC_PAGESIZE));
  facts.driver = fmt::format("host-{}", ::strop::host::kVersion);
  facts.driver_user_mode = facts.driver;
  return facts;
}

}  // namespace strop::device::host
