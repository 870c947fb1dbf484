#pragma once

// What a prune would remove: it is done to a copy in a temporary folder, by the very code that would do it to the
// cache, and the copy is compared. Takes the room of the cache there for as long. Throws Error when the copy can't be
// made.

#include <cstdint>
#include <string>
#include <vector>

#include "cache/store.h"

namespace strop::cli {

struct PruneRehearsal {
  std::vector<cache::Winner> entries;         // past the bound, the least recently used
  std::vector<cache::StoredBinary> binaries;  // without bytes
  std::int64_t trials = 0;                    // of entries and of tunings without a winner
  std::uint64_t freed_bytes = 0;
};

PruneRehearsal rehearse_prune(const std::string& path, std::uint64_t max_bytes);

}  // namespace strop::cli
