#pragma once

// Runs candidates of a problem on a device, with buffers of the exact size (no guard zones: under AddressSanitizer the red zones lie
// right before the first and right behind the last element), and compares with the fp64 reference.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "src/device/device.h"
#include "strop/kernel.h"

namespace strop::host_test {

// One problem, its inputs and its reference made once. `device` and `problem` outlive it.
class ProblemRun {
 public:
  ProblemRun(device::Device& device, const KernelProblem& problem);

  // Empty when every output is right; else what is wrong first. Throws what launching throws.
  std::optional<std::string> run(const device::LoadedKernel& kernel, const Config& config) const;

 private:
  class Buffers;

  device::Device& device_;
  const KernelProblem& problem_;
  std::vector<TensorSpec> specs_;
  std::vector<std::vector<std::byte>> inputs_;   // empty for outputs and scratch
  std::vector<std::vector<double>> reference_;  // of outputs
};

// One candidate, compiled with `flags`. Throws what building and launching throw.
std::optional<std::string> run_problem(device::Device& device, const KernelTemplate& kernel,
                                       const KernelProblem& problem, const Config& config,
                                       const std::vector<std::string>& flags);

}  // namespace strop::host_test
