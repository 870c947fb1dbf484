#pragma once

// Tunings that have trials and no winner: they were interrupted, or every candidate was rejected. They are no entries (nothing is
// served from them), but they are in the file, a later tuning goes on from them, and the user may see them and throw them out.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cache/store.h"
#include "tools/strop/entries.h"

namespace strop::cli {

std::vector<cache::Winner> selected_unfinished(cache::Store& store, const Selection& selection);
// One line each: trials, how many of them rejected, the last one's time.
std::string unfinished_table(const std::vector<cache::Winner>& tunings);
nlohmann::ordered_json unfinished_json(const std::vector<cache::Winner>& tunings);

}  // namespace strop::cli
