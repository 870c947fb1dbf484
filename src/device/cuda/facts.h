#pragma once

// The facts of one CUDA device, from the driver and, where it is there, NVML.

#include <string>

#include "src/device/cuda/driver.h"
#include "src/device/cuda/nvml.h"
#include "strop/device_facts.h"

namespace strop::device::cuda {

// "1a2b3c4d-0000-1111-2222-333344445555", without "GPU-" or "MIG-".
std::string uuid_text(CUdevice device);

int attribute(CUdevice device, CUdevice_attribute which);

// Throws CudaError.
DeviceFacts read_facts(CUdevice device, int ordinal, const NvmlDevice& nvml);

}  // namespace strop::device::cuda
