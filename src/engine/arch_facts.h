#pragma once

// The limits of a GPU architecture that decide which configs are legal, for compiling where no such GPU is. From the table of
// compute capabilities in NVIDIA's CUDA C++ programming guide.

#include <string>

#include "strop/device_facts.h"

namespace strop::engine {

// Throws strop::Error naming the known ones for an arch that is not in the table.
DeviceFacts arch_facts(const std::string& arch);

}  // namespace strop::engine
