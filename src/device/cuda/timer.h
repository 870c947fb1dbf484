#pragma once

// Times launches with the device's own clock. Everything is queued on a stream of its own that is held back meanwhile,
// so that the GPU runs the queue without gaps and the cost of launching is not in the times.
//
// The hold is a wait on a word in host memory. While it lasts, any call that waits for the device would wait for ever,
// and might keep the driver's lock while it does (another thread's free, a lazily loaded kernel): a watchdog lets go
// after a quarter of a second, and the run is repeated behind long memsets instead of a hold. So the callback may
// launch, and nothing else; kernels must be loaded eagerly (CudaDevice::load does).
//
// One run at a time: runs of several threads wait for each other, else each would time the other's load.

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

#include "src/device/cuda/handles.h"
#include "src/device/device.h"

namespace strop::device::cuda {

class Timer {
 public:
  // The context must be current for the constructor and the destructor. `limit` is for one run's queue: a kernel that never ends must
  // become an error.
  explicit Timer(CUcontext context, std::chrono::milliseconds limit = std::chrono::minutes(1));

  // See Device::time. After a hold that was let go early, `launch_one` is called again from 0. Throws CudaError for a
  // fault, and with CUDA_ERROR_LAUNCH_TIMEOUT when the queue does not end within the limit: the context is lost then.
  std::vector<double> time(const std::function<void(Stream, int)>& launch_one, const TimingPlan& plan);

 private:
  // False when the watchdog let go before everything was queued.
  bool run_held(const std::function<void(Stream, int)>& launch_one, const TimingPlan& plan);
  void run_behind_memsets(const std::function<void(Stream, int)>& launch_one, const TimingPlan& plan);
  // Event, batch, event, batch, ..., event. On an exception from the callback the queue is run dry before it goes on.
  void enqueue(const std::function<void(Stream, int)>& launch_one, const TimingPlan& plan);
  void run_dry() noexcept;
  void wait(CUevent event);
  std::vector<double> read(const TimingPlan& plan);
  void need_events(std::size_t count);

  const Driver& driver_;
  CUcontext context_;
  std::chrono::milliseconds limit_;
  std::mutex one_at_a_time_;
  StreamOwner stream_;
  PinnedMemory flag_;
  CUdeviceptr flag_on_device_ = 0;
  std::uint32_t ticket_ = 0;
  bool can_hold_ = true;
  int let_go_early_ = 0;  // in a row
  std::vector<Event> events_;
};

}  // namespace strop::device::cuda
