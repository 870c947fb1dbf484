#pragma once

// Judges whether a loaded candidate computes the right thing, on the kernel's check problem: outputs poisoned, guard zones around
// every buffer, two runs that must agree to the bit, comparison with the fp64 reference. One object a key: inputs, reference and
// device buffers are made once and shared by all its candidates. The caller's tensors are never touched. Used by one thread.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/device/device.h"
#include "strop/kernel.h"
#include "strop/trial.h"

namespace strop::engine {

struct Finding {
  Verdict verdict = Verdict::ok;
  std::string detail;
};

class Checker {
 public:
  // Throws OutOfMemory when the buffers can't be had.
  Checker(device::Device& device, std::unique_ptr<KernelProblem> problem);

  // Launches the candidate twice, on the device's own stream. Throws what is not the candidate's fault (a capture in the way, a failed
  // transfer) and CudaError when the context is lost; want of memory is the verdict out_of_memory; other faults are findings.
  Finding check(const device::LoadedKernel& kernel, const Config& config);
  // Whether the last check came so far as to launch: a context that is lost before that was not lost by the candidate.
  bool launched() const { return launched_; }

 private:
  void lay_out();
  void make_reference();
  Finding run(const device::LoadedKernel& kernel, const Config& config, std::vector<std::byte>& image);
  std::optional<std::string> damage(const std::vector<std::byte>& image) const;
  Finding compare_outputs(const std::vector<std::byte>& image);
  std::string differing_output(const std::vector<std::byte>& a, const std::vector<std::byte>& b) const;

  device::Device& device_;
  std::unique_ptr<KernelProblem> problem_;
  std::vector<TensorSpec> tensors_;
  std::vector<std::size_t> offsets_;          // of each tensor's data in the arena
  std::vector<std::byte> pristine_;           // the arena as it is before a run
  std::vector<std::vector<double>> expected_;  // by tensor; empty for inputs and scratch
  std::vector<std::byte> passed_;             // the arena after a run that passed
  bool launched_ = false;
  device::Buffer arena_;
  device::Buffer fresh_;                      // pristine_ on the device
};

}  // namespace strop::engine
