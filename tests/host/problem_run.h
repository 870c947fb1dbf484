#pragma once

// Runs one candidate of a problem on a device, with buffers of the exact size (no guard zones: under AddressSanitizer
// the red zones lie right behind the last element), and compares with the reference.

#include <optional>
#include <string>
#include <vector>

#include "src/device/device.h"
#include "strop/kernel.h"

namespace strop::host_test {

// Empty when every output is right; else what is wrong first. Throws what building and launching throw.
std::optional<std::string> run_problem(device::Device& device, const KernelTemplate& kernel,
                                       const KernelProblem& problem, const Config& config,
                                       const std::vector<std::string>& flags);

}  // namespace strop::host_test
