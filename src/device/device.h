#pragma once

// A device: facts, memory, load, launch, time. Two implementations, chosen at run time: cuda/ (driver API, opened at run time) and
// host/ (the same templates on the CPU, for correctness, not speed). Toolchain (source to binary, jit/) and device are two things.
//
// Thread-safe: any thread may call any method; implementations make their context current around each call and leave the
// caller's current context as it was. Destructors log and go on.

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "strop/device_facts.h"
#include "strop/kernel.h"

namespace strop::device {

// A loaded entry point; unloads when destroyed. Must not outlive its device.
class LoadedKernel {
 public:
  virtual ~LoadedKernel() = default;
};

class Device;

// Owns device memory; move-only.
class Buffer {
 public:
  Buffer() = default;
  Buffer(Device& device, std::size_t bytes);  // throws OutOfMemory
  ~Buffer();
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;
  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

 private:
  Device* device_ = nullptr;
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

// One timed run: `batches` times, `launches` launches; the device's own clock between the batches.
struct TimingPlan {
  int batches = 1;
  int launches = 1;  // a batch; keep batches * launches under 512 (the queue is filled while the stream is blocked)
};

class Device {
 public:
  virtual ~Device() = default;
  virtual const DeviceFacts& facts() const = 0;

  virtual void* allocate(std::size_t bytes) = 0;  // 256-byte aligned; throws OutOfMemory
  virtual void release(void* pointer) noexcept = 0;
  virtual std::size_t free_bytes() const = 0;
  // Synchronous with the host.
  virtual void upload(void* to, const void* from, std::size_t bytes) = 0;
  virtual void download(void* to, const void* from, std::size_t bytes) = 0;
  virtual void copy(void* to, const void* from, std::size_t bytes) = 0;
  virtual void fill(void* to, unsigned char byte, std::size_t bytes) = 0;

  // Loads a binary made for this device's target and makes it ready to launch (eagerly, dynamic shared memory opted in up to
  // `dynamic_shared`). Throws strop::Error (CudaError) when it can't.
  virtual std::shared_ptr<LoadedKernel> load(std::string_view binary, std::string_view entry, unsigned dynamic_shared) = 0;

  // Asynchronous on `stream`. Throws CudaError when the launch is refused.
  virtual void launch(const LoadedKernel& kernel, const LaunchGeometry& geometry, const void* arguments, std::size_t bytes,
                      Stream stream) = 0;
  virtual void synchronize(Stream stream) = 0;  // throws CudaError on a fault
  // The same for work that may never end. After `seconds` a GPU is lost to the process: a sticky CudaError says that a kernel did
  // not end, and so does every call from then on, but for releasing, which does nothing. The host device's launches end by themselves.
  virtual void synchronize_within(Stream stream, double /*seconds*/) { synchronize(stream); }
  // The device's own: work on it does not wait for the caller's streams, nor they for it, and it destroys no capture. The host: null.
  virtual Stream own_stream() { return nullptr; }
  virtual bool capturing(Stream stream) const = 0;
  // The place of the first pointer that no kernel here may follow (a host's, another GPU's), or their number; null ones are passed
  // over. Cheap: every launch of an op asks. The host device can't tell, and trusts.
  virtual std::size_t first_unreachable(std::span<const void* const> pointers) const { return pointers.size(); }
  virtual std::string describe_pointer(const void*) const { return {}; }

  // Seconds a launch, one value a batch. `launch_one(stream, i)` enqueues launch i (counting through all batches) on the device's
  // own timing stream, which is held back until everything is queued, so that launch latency is not timed. Host: a steady clock.
  // It must launch and do nothing else (what waits for the device would wait for the held stream), and may be called again from 0.
  virtual std::vector<double> time(const std::function<void(Stream, int)>& launch_one, const TimingPlan& plan) = 0;
  // True when the clocks were held down (heat, power) at any moment since the last call; empty when it can't be known.
  virtual std::optional<bool> throttled() = 0;
};

// Why there is no CUDA device, or which it is. Never throws.
enum class CudaStatus { ok, no_library, stub, no_device, too_old, failed };
struct CudaProbe {
  CudaStatus status = CudaStatus::no_library;
  std::string reason;    // one sentence: what was found, and the remedy
  std::string library;   // real path of libcuda, and by which rule it was found
  std::string rule;
  int driver_api = 0;    // 13000
  int devices = 0;
};
CudaProbe probe_cuda();

// `ordinal` counts the visible devices. Throws strop::Error with probe_cuda's reason.
std::unique_ptr<Device> open_cuda(int ordinal);
std::unique_ptr<Device> open_host();
// "auto", "cuda", "cuda:N", "host". Throws strop::Error for other words.
std::unique_ptr<Device> open(const std::string& name);

}  // namespace strop::device
