#pragma once

// A small kernel for tests of the toolchains: y[i] = factor * x[i], with a sum over the block in shared memory.

#include "jit/toolchain.h"
#include "strop/kernel.h"

namespace strop::test {

// Its text is "scale/main.cuh", which includes "scale/parts.cuh".
const KernelTemplate& scale_kernel();
// `values` besides threads=64.
jit::CompileRequest scale_request(const KernelTemplate& kernel, const std::string& target, const Config& values = {});

}  // namespace strop::test
