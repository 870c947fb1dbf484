#include "cache/merge.h"

#include <algorithm>
#include <utility>

namespace strop::cache {
namespace {

std::int64_t timed_at(const Winner& winner) { return std::max(winner.tuned_at, winner.revalidated_at); }

}  // namespace

std::optional<Winner> later_winner(std::optional<Winner> kept, std::optional<Winner> stored) {
  if (!kept) return stored;
  return stored && timed_at(*stored) > timed_at(*kept) ? std::move(stored) : std::move(kept);
}

std::vector<Winner> merge_winners(std::vector<Winner> kept, std::vector<Winner> stored) {
  if (kept.empty()) return stored;
  for (auto& winner : kept) {
    const auto name = handle(winner.id);
    const auto at = std::find_if(stored.begin(), stored.end(), [&](const Winner& other) { return handle(other.id) == name; });
    if (at == stored.end()) stored.push_back(std::move(winner));
    else if (timed_at(*at) <= timed_at(winner)) *at = std::move(winner);
  }
  return stored;
}

std::vector<StoredTrial> merge_trials(std::vector<StoredTrial> kept, std::vector<StoredTrial> stored) {
  if (kept.empty()) return stored;
  for (auto& trial : kept) {
    const auto at =
        std::find_if(stored.begin(), stored.end(), [&](const StoredTrial& other) { return other.trial.config == trial.trial.config; });
    if (at == stored.end()) stored.push_back(std::move(trial));
    else *at = std::move(trial);
  }
  std::stable_sort(stored.begin(), stored.end(), [](const StoredTrial& a, const StoredTrial& b) {
    return std::pair(a.landed_at, a.trial.config.str()) < std::pair(b.landed_at, b.trial.config.str());
  });
  return stored;
}

}  // namespace strop::cache
