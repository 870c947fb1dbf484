#pragma once

// Builds a template for the host device, with extra compiler flags (sanitizers, planted faults).

#include <string>
#include <vector>

#include "jit/toolchain.h"

namespace strop::host_test {

jit::Binary build(const KernelTemplate& kernel, const Config& config, const std::vector<std::string>& flags = {});

}  // namespace strop::host_test
