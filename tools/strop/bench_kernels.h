#pragma once

// Each kernel of an op alone, its winner on buffers of its own, in turns with a copy and an add over the bytes it must
// move.

#include <vector>

#include "strop/library.h"
#include "tools/strop/json_values.h"

namespace strop::cli {

struct KernelTimes {
  const WarmupItem* item = nullptr;
  Config winner;
  Measurement time;
  Measurement copy, add;  // without samples for a kernel that moves too little to compare: those of states
};

// `ceilings` is a library on the same device that remembers nothing: copy and add are no winners of the user's.
KernelTimes measure_kernel(Library& library, Library& ceilings, const WarmupItem& item, const Config& winner);

Json to_json(const KernelTimes& times);
std::string kernels_text(const std::vector<KernelTimes>& kernels);

}  // namespace strop::cli
