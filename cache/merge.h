#pragma once

// Two answers to one question: what is kept in memory, and what is in the file. Neither is always the newer one: the file is written by
// other processes too. Pure functions.

#include <optional>
#include <vector>

#include "cache/store.h"

namespace strop::cache {

// The one that was timed last; kept where both were at once.
std::optional<Winner> later_winner(std::optional<Winner> kept, std::optional<Winner> stored);
// One an entry, by the rule above.
std::vector<Winner> merge_winners(std::vector<Winner> kept, std::vector<Winner> stored);
// One a config, the kept one where both have it; ordered as they landed.
std::vector<StoredTrial> merge_trials(std::vector<StoredTrial> kept, std::vector<StoredTrial> stored);

}  // namespace strop::cache
