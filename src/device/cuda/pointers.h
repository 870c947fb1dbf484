#pragma once

// Whether a kernel on a device may follow a pointer: a host's, or another GPU's, would end the context for the whole process.

#include <chrono>
#include <cstddef>
#include <span>
#include <string>

#include "src/device/cuda/driver.h"

namespace strop::device::cuda {

// The place of the first pointer that a kernel on the device can't follow, or their number. Null pointers are passed over. The driver
// is asked once a second, pointer and thread (a few hundred are remembered): memory that is freed and comes back as another kind under
// the same address is noticed then. `pageable`: the device reads any memory of the host.
std::size_t first_unreachable(const Driver& driver, int ordinal, bool pageable, std::span<const void* const> pointers,
                              std::chrono::steady_clock::time_point now = std::chrono::steady_clock::now());

// What it is instead: "memory of the host", "memory of cuda:1".
std::string describe_pointer(const Driver& driver, const void* pointer);

}  // namespace strop::device::cuda
