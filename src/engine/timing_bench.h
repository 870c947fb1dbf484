#pragma once

// The buffers on which a key's candidates are timed: the real problem's sizes, seeded inputs, several sets rotated so that each
// launch finds the L2 cold. One object a key, shared by its candidates; nothing of the caller's is touched. Used by one thread.

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "src/device/device.h"
#include "strop/kernel.h"

namespace strop::engine {

// Bytes a second that a copy kernel attains, from the nominal rate of the device's memory; 0 when that is not known.
double attainable_rate(const DeviceFacts& facts);
// Sets of `bytes` that must be rotated for every launch to find the L2 cold; 1 on the host.
std::size_t cold_sets(const DeviceFacts& facts, double bytes);
// Launches that make a batch long enough for the device's timer; 1 on the host. Launches before it knows, which pays
// for what is lazy in driver and caches.
int launches_a_batch(device::Device& device, const std::function<void(Stream, int)>& launch_one);
// Seeded contents of a timing's input; long random ones are made up to a length and repeated.
void fill_input(device::Device& device, void* to, const TensorSpec& spec, std::uint64_t seed);

class TimingBench {
 public:
  // Throws OutOfMemory when the buffers of even one set can't be had.
  TimingBench(device::Device& device, const KernelProblem& problem);

  // Microseconds a launch, one value a batch.
  std::vector<double> sample(const device::LoadedKernel& kernel, const Config& config, int batches);
  std::size_t bytes() const { return bytes_; }
  // Time of the bytes that must move at the memory's attainable rate; 0 when either is not known, or when there was no memory for as many
  // sets as keep the caches cold: what the caches hold can be faster than that.
  double limit_us() const;

 private:
  struct Set {
    std::vector<device::Buffer> buffers;
    std::vector<void*> pointers;
  };
  void add_set();

  device::Device& device_;
  const KernelProblem& problem_;
  std::vector<TensorSpec> tensors_;
  std::vector<Set> sets_;
  std::size_t bytes_ = 0;
  bool cold_ = false;
  std::size_t next_set_ = 0;
};

}  // namespace strop::engine
