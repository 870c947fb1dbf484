#pragma once

// A CUDA device behind the common interface. Retains the device's primary context for its life and makes it current
// around each call. Copies and fills run on a stream of its own that is ordered after the legacy default stream; work
// on other streams must be waited for first. Thread-safe. In the child of a fork, and once a kernel did not end, every
// call throws, and releasing does nothing.

#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "src/device/cuda/handles.h"
#include "src/device/cuda/nvml.h"
#include "src/device/cuda/pointers.h"
#include "src/device/cuda/timer.h"
#include "src/device/device.h"

namespace strop::device::cuda {

class CudaDevice final : public Device {
 public:
  explicit CudaDevice(int ordinal);
  ~CudaDevice() override;
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;

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
  void synchronize(Stream stream) override;
  void synchronize_within(Stream stream, double seconds) override;
  Stream own_stream() override { return own_.get(); }
  bool capturing(Stream stream) const override;
  std::size_t first_unreachable(std::span<const void* const> pointers) const override {
    return cuda::first_unreachable(driver_, facts_.ordinal, pageable_, pointers);
  }
  std::string describe_pointer(const void* pointer) const override { return cuda::describe_pointer(driver_, pointer); }

  std::vector<double> time(const std::function<void(Stream, int)>& launch_one, const TimingPlan& plan) override;
  std::optional<bool> throttled() override;

 private:
  void finish_transfer();

  const Driver& driver_;
  CUdevice device_ = 0;
  std::shared_ptr<const PrimaryContext> context_;
  mutable std::mutex nvml_mutex_;
  NvmlDevice nvml_;
  DeviceFacts facts_;
  bool pageable_ = false;  // kernels reach all memory of the host
  StreamOwner transfers_;  // blocking: a transfer comes after what the caller launched on the default stream
  StreamOwner own_;
  std::mutex timer_mutex_;
  std::unique_ptr<Timer> timer_;  // made at the first timing
};

}  // namespace strop::device::cuda
