#pragma once

// A kernel of tests/host/faults, built and launched on the host device: 128 threads, `in` and `out` of 128 words.

#include <cstdint>
#include <string>
#include <vector>

#include "src/device/device.h"
#include "strop/kernel.h"

namespace strop::host_test {

struct FaultRun {
  std::string function;
  bool fixed = false;
  std::vector<std::string> flags;  // of the compiler
};

KernelTemplate fault_template(const std::string& function);
// Returns what the kernel wrote. Throws what launch throws.
std::vector<std::uint32_t> run_fault(device::Device& device, const FaultRun& run);

}  // namespace strop::host_test
