#pragma once

// The host as a device: runs kernels that the host toolchain compiled, block by block on all cores, for correctness and
// not for speed. Launches are synchronous and refused where a GPU would refuse them (CudaError with the code a GPU
// would give); a kernel that traps, deadlocks or misuses a barrier throws KernelFault from launch and leaves the device
// usable. What only the operating system sees (a wild pointer in a kernel built without sanitizers) ends the process.
//
// Thread-safe; concurrent launches queue up.

#include <memory>
#include <mutex>

#include "src/device/device.h"
#include "src/device/host/run_options.h"
#include "src/device/host/worker_pool.h"

namespace strop::device::host {

class HostDevice final : public Device {
 public:
  HostDevice();

  // For the launches that follow.
  void set_run_options(const RunOptions& options);

  const DeviceFacts& facts() const override { return facts_; }
  void* allocate(std::size_t bytes) override;
  void release(void* pointer) noexcept override;
  std::size_t free_bytes() const override;
  void upload(void* to, const void* from, std::size_t bytes) override;
  void download(void* to, const void* from, std::size_t bytes) override;
  void copy(void* to, const void* from, std::size_t bytes) override;
  void fill(void* to, unsigned char byte, std::size_t bytes) override;
  std::shared_ptr<LoadedKernel> load(std::string_view binary, std::string_view entry, unsigned dynamic_shared) override;
  void launch(const LoadedKernel& kernel, const LaunchGeometry& geometry, const void* arguments, std::size_t bytes,
              Stream stream) override;
  void synchronize(Stream) override {}
  bool capturing(Stream) const override { return false; }
  std::vector<double> time(const std::function<void(Stream, int)>& launch_one, const TimingPlan& plan) override;
  std::optional<bool> throttled() override { return std::nullopt; }

 private:
  DeviceFacts facts_;
  std::shared_ptr<WorkerPool> pool_;  // so that it lives as long as a device
  mutable std::mutex mutex_;
  RunOptions options_;  // guarded by mutex_
};

// What is known of this machine.
DeviceFacts host_facts();

}  // namespace strop::device::host
