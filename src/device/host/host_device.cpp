#include "src/device/host/host_device.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include "src/base/format.h"
#include "src/base/settings.h"
#include "src/device/host/grid.h"
#include "src/device/host/host_kernel.h"
#include "src/device/host/refusal.h"

namespace strop::device {
namespace host {
namespace {

constexpr std::size_t kAlign = 256;
constexpr unsigned kMostBlockZ = 64;

std::string text(const Dim3& d) { return fmt::format("{}x{}x{}", d.x, d.y, d.z); }

void check_block(const HostKernel& kernel, const Dim3& block, const DeviceFacts& facts) {
  const unsigned most = static_cast<unsigned>(facts.max_threads_per_block);
  const bool dimensions =
      block.x >= 1 && block.y >= 1 && block.z >= 1 && block.x <= most && block.y <= most && block.z <= kMostBlockZ;
  if (!dimensions || block.x * block.y * block.z > most)
    throw refusal(kInvalidValue, "launch",
                  fmt::format("{}: a block of {} threads, {} is the limit", kernel.name(), text(block), most));
  const unsigned threads = block.x * block.y * block.z;
  if (threads > kernel.info().threads)
    throw refusal(
        kInvalidValue, "launch",
        fmt::format("{}: {} threads a block, compiled for at most {}", kernel.name(), threads, kernel.info().threads));
}

void check_grid(const HostKernel& kernel, const LaunchGeometry& geometry, const DeviceFacts& facts) {
  const Dim3& grid = geometry.grid;
  if (grid.x < 1 || grid.y < 1 || grid.z < 1 || grid.x > facts.max_grid_x || grid.y > facts.max_grid_y ||
      grid.z > facts.max_grid_z)
    throw refusal(kInvalidValue, "launch",
                  fmt::format("{}: a grid of {} blocks, the limit is {}", kernel.name(), text(grid),
                              text({facts.max_grid_x, facts.max_grid_y, facts.max_grid_z})));
  if (!(geometry.cluster == Dim3{}))
    throw refusal(kNotSupported, "launch", fmt::format("{}: there are no clusters here", kernel.name()));
}

void check_sizes(const HostKernel& kernel, const LaunchGeometry& geometry, std::size_t bytes) {
  if (geometry.dynamic_shared > kernel.dynamic_shared())
    throw refusal(kInvalidValue, "launch",
                  fmt::format("{}: {} bytes of dynamic shared memory, loaded for at most {}", kernel.name(),
                              geometry.dynamic_shared, kernel.dynamic_shared()));
  if (bytes != kernel.info().args_bytes)
    throw refusal(
        kInvalidValue, "launch",
        fmt::format("{}: arguments of {} bytes, the kernel takes {}", kernel.name(), bytes, kernel.info().args_bytes));
}

abi::Index3 index3(const Dim3& d) { return {d.x, d.y, d.z}; }

}  // namespace

HostDevice::HostDevice() : facts_(host_facts()), pool_(WorkerPool::shared()) {
  options_.workers = static_cast<int>(settings::number("host_threads"));
}

void HostDevice::set_run_options(const RunOptions& options) {
  const std::lock_guard<std::mutex> lock(mutex_);
  options_ = options;
}

void* HostDevice::allocate(std::size_t bytes) {
  void* memory = nullptr;
  // The exact size, so that red zones lie right behind. The system grants more than there is and kills the process that
  // uses it, so what is free is asked first.
  const std::size_t free = free_bytes();
  if (bytes > free || posix_memalign(&memory, kAlign, bytes) != 0)
    throw OutOfMemory(fmt::format("host device: {} could not be had, {} of {} are free", bytes_text(bytes),
                                  bytes_text(free), bytes_text(facts_.memory_bytes)));
  return memory;
}

void HostDevice::release(void* pointer) noexcept { std::free(pointer); }

std::size_t HostDevice::free_bytes() const {
  // What can be had without swapping, page cache that can be dropped included; the system's own estimate.
  std::ifstream info("/proc/meminfo");
  for (std::string word; info >> word;) {
    std::size_t kib = 0;
    if (word == "MemAvailable:" && info >> kib) return kib * 1024;
  }
  return facts_.memory_bytes;  // unknown: the least that refuses nothing that fits
}

void HostDevice::upload(void* to, const void* from, std::size_t bytes) { copy(to, from, bytes); }
void HostDevice::download(void* to, const void* from, std::size_t bytes) { copy(to, from, bytes); }
void HostDevice::copy(void* to, const void* from, std::size_t bytes) {
  if (bytes) std::memmove(to, from, bytes);
}
void HostDevice::fill(void* to, unsigned char byte, std::size_t bytes) {
  if (bytes) std::memset(to, byte, bytes);
}

std::shared_ptr<LoadedKernel> HostDevice::load(std::string_view binary, std::string_view entry,
                                               unsigned dynamic_shared) {
  if (dynamic_shared > facts_.shared_per_block)
    throw refusal(kInvalidValue, "load",
                  fmt::format("{}: {} bytes of dynamic shared memory, {} is the limit", entry, dynamic_shared,
                              facts_.shared_per_block));
  return std::make_shared<HostKernel>(binary, entry, dynamic_shared);
}

void HostDevice::launch(const LoadedKernel& kernel, const LaunchGeometry& geometry, const void* arguments,
                        std::size_t bytes, Stream) {
  const auto* host_kernel = dynamic_cast<const HostKernel*>(&kernel);
  if (!host_kernel) throw refusal(kInvalidValue, "launch", "the kernel was loaded on another device");
  check_block(*host_kernel, geometry.block, facts_);
  check_grid(*host_kernel, geometry, facts_);
  check_sizes(*host_kernel, geometry, bytes);
  Grid grid;
  grid.kernel = host_kernel->name();
  grid.entry = host_kernel->entry();
  grid.bind = host_kernel->info().bind;
  grid.arguments = arguments;
  grid.size = index3(geometry.grid);
  grid.block = index3(geometry.block);
  grid.dynamic_shared = geometry.dynamic_shared;
  grid.shared_limit = facts_.shared_per_block;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    grid.options = options_;
  }
  WorkerPool::shared()->run(grid);
}

std::vector<double> HostDevice::time(const std::function<void(Stream, int)>& launch_one, const TimingPlan& plan) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> seconds;
  int launch = 0;
  for (int batch = 0; batch < plan.batches; ++batch) {
    const Clock::time_point begin = Clock::now();
    for (int i = 0; i < plan.launches; ++i) launch_one(nullptr, launch++);
    const std::chrono::duration<double> spent = Clock::now() - begin;
    seconds.push_back(spent.count() / plan.launches);
  }
  return seconds;
}

}  // namespace host

std::unique_ptr<Device> open_host() { return std::make_unique<host::HostDevice>(); }

}  // namespace strop::device
