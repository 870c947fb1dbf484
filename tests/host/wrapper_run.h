#pragma once

// Runs one conformance case on a device.

#include "jit/toolchain.h"
#include "src/device/device.h"
#include "tests/gpu/wrapper_cases.h"

namespace strop::conformance {

std::vector<std::uint32_t> run_case(device::Device& device, const WrapperCase& c, const jit::Binary& binary);

}  // namespace strop::conformance
