#include "src/device/cuda/timer.h"

#include <algorithm>
#include <chrono>

#include "src/base/log.h"
#include "src/device/cuda/errors.h"
#include "src/device/cuda/hold.h"
#include "src/device/cuda/lost.h"

namespace strop::device::cuda {
namespace {

using namespace std::chrono_literals;

constexpr auto kHoldLimit = 250ms;  // filling a queue of 512 launches takes about 2 ms
constexpr int kGiveUpHolding = 3;
constexpr std::size_t kBusyBytes = 64u << 20;  // a memset of it takes some 20 us: longer than a launch

class ScratchMemory {
 public:
  ScratchMemory(const Driver& driver, CUcontext context, std::size_t bytes) : driver_(driver), context_(context) {
    check(driver.cuMemAlloc(&memory_, bytes), "cuMemAlloc");
  }
  ~ScratchMemory() {
    if (!lost(context_)) check_quietly(driver_.cuMemFree(memory_), "cuMemFree");
  }
  ScratchMemory(const ScratchMemory&) = delete;
  ScratchMemory& operator=(const ScratchMemory&) = delete;
  CUdeviceptr get() const { return memory_; }

 private:
  const Driver& driver_;
  CUcontext context_;
  CUdeviceptr memory_ = 0;
};

}  // namespace

Timer::Timer(CUcontext context, std::chrono::milliseconds limit)
    : driver_(opened()),
      context_(context),
      limit_(limit),
      stream_(make_stream(CU_STREAM_NON_BLOCKING)),
      flag_(make_mapped(sizeof ticket_)) {
  *static_cast<std::uint32_t*>(flag_.get()) = 0;
  check(driver_.cuMemHostGetDevicePointer(&flag_on_device_, flag_.get(), 0), "cuMemHostGetDevicePointer");
  can_hold_ = driver_.cuStreamWaitValue32 != nullptr;
}

std::vector<double> Timer::time(const std::function<void(Stream, int)>& launch_one, const TimingPlan& plan) {
  const std::lock_guard lock(one_at_a_time_);
  const ContextScope scope(context_);
  const RelaxedCapture relaxed;
  need_events(static_cast<std::size_t>(plan.batches) + 1);
  if (!can_hold_ || !run_held(launch_one, plan)) run_behind_memsets(launch_one, plan);
  return read(plan);
}

bool Timer::run_held(const std::function<void(Stream, int)>& launch_one, const TimingPlan& plan) {
  Hold hold(static_cast<std::uint32_t*>(flag_.get()), ++ticket_, kHoldLimit);
  if (!hold.watched()) return false;  // no thread is to be had; the memsets need none
  // Cyclic >=: the word needs no reset between runs.
  const CUresult result =
      driver_.cuStreamWaitValue32(stream_.get(), flag_on_device_, ticket_, CU_STREAM_WAIT_VALUE_GEQ);
  if (result == CUDA_ERROR_NOT_SUPPORTED) {
    log::debug("this device can't hold a stream back on a memory word: timing behind memsets");
    can_hold_ = false;
    return false;
  }
  check(result, "cuStreamWaitValue32");
  try {
    enqueue(launch_one, plan);
  } catch (...) {
    hold.let_go();
    run_dry();
    throw;
  }
  if (hold.let_go()) {
    let_go_early_ = 0;
    return true;
  }
  log::debug("a timed run could not be queued while its stream was held; timing it again behind memsets");
  if (++let_go_early_ == kGiveUpHolding) {
    can_hold_ = false;
    log::warn(
        "launches wait for the device here (CUDA_LAUNCH_BLOCKING, or a tool that serialises kernels): times of short "
        "kernels "
        "may hold the cost of launching");
  }
  wait(events_[static_cast<std::size_t>(plan.batches)].get());
  return false;
}

// The memsets keep the stream busy while the first launches are queued; one a launch, so that the queue never runs
// empty as long as a launch costs less than a memset.
void Timer::run_behind_memsets(const std::function<void(Stream, int)>& launch_one, const TimingPlan& plan) {
  const ScratchMemory scratch(driver_, context_, kBusyBytes);
  const int memsets = std::min(plan.batches * plan.launches + 16, 512);
  try {
    for (int i = 0; i < memsets; ++i) {
      check(driver_.cuMemsetD8Async(scratch.get(), 0, kBusyBytes, stream_.get()), "cuMemsetD8Async");
    }
    enqueue(launch_one, plan);
    wait(events_[static_cast<std::size_t>(plan.batches)].get());
  } catch (...) {
    run_dry();
    throw;
  }
}

void Timer::enqueue(const std::function<void(Stream, int)>& launch_one, const TimingPlan& plan) {
  check(driver_.cuEventRecord(events_[0].get(), stream_.get()), "cuEventRecord");
  int launch = 0;
  for (int batch = 0; batch < plan.batches; ++batch) {
    for (int i = 0; i < plan.launches; ++i) launch_one(stream_.get(), launch++);
    check(driver_.cuEventRecord(events_[static_cast<std::size_t>(batch) + 1].get(), stream_.get()), "cuEventRecord");
  }
}

void Timer::run_dry() noexcept {
  if (lost(context_)) return;
  try {
    check(driver_.cuEventRecord(events_[0].get(), stream_.get()), "cuEventRecord");
    wait(events_[0].get());
  } catch (...) {  // the exception that brought us here tells more than this one
  }
}

void Timer::wait(CUevent event) { wait_for(driver_, context_, event, limit_); }

std::vector<double> Timer::read(const TimingPlan& plan) {
  const auto batches = static_cast<std::size_t>(plan.batches);
  wait(events_[batches].get());
  std::vector<double> seconds(batches);
  for (std::size_t batch = 0; batch < batches; ++batch) {
    float milliseconds = 0;
    check(driver_.cuEventElapsedTime(&milliseconds, events_[batch].get(), events_[batch + 1].get()),
          "cuEventElapsedTime");
    seconds[batch] = static_cast<double>(milliseconds) * 1e-3 / plan.launches;
  }
  return seconds;
}

void Timer::need_events(std::size_t count) {
  while (events_.size() < count) events_.push_back(make_event(CU_EVENT_DEFAULT));
}

}  // namespace strop::device::cuda
