#include "tuner/final.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace strop::tuner {
namespace {

double pooled_median(const Finalist& finalist) {
  std::vector<double> all;
  for (const auto& round : finalist.rounds) all.insert(all.end(), round.begin(), round.end());
  const auto pooled = summarise(std::move(all));
  return pooled.samples > 0 ? pooled.median_us : finalist.first.median_us;
}

// The finalist's time over the reference's in every round that both have.
std::vector<double> ratios(const Finalist& finalist, const Finalist& reference) {
  std::vector<double> found;
  for (std::size_t r = 0; r < std::min(finalist.rounds.size(), reference.rounds.size()); ++r) {
    const auto mine = summarise(finalist.rounds[r]);
    const auto other = summarise(reference.rounds[r]);
    if (mine.samples > 0 && other.samples > 0) found.push_back(mine.median_us / other.median_us);
  }
  return found;
}

bool equal(const Standing& standing, const SearchOptions& options) {
  return standing.slower <= std::max(options.tie, std::min(standing.noise, options.tie_at_most));
}

std::string percent(double share) {
  return std::isfinite(share) ? fmt::format("{:.1f} %", 100 * share) : std::string("not known");
}

}  // namespace

std::vector<Standing> standings(const std::vector<Finalist>& finalists) {
  const auto reference = std::min_element(finalists.begin(), finalists.end(), [](const auto& a, const auto& b) {
    return pooled_median(a) < pooled_median(b);
  });
  std::vector<Standing> result;
  for (const auto& finalist : finalists) {
    const auto rounds = ratios(finalist, *reference);
    const double share =
        rounds.empty() ? pooled_median(finalist) / pooled_median(*reference) : summarise(rounds).median_us;
    result.push_back({share, median_half_width(rounds)});
  }
  // Round by round another one than the reference may turn out to be the best.
  double best = std::numeric_limits<double>::infinity();
  for (const auto& standing : result) best = std::min(best, standing.slower);
  for (auto& standing : result) standing.slower = standing.slower / best - 1;
  return result;
}

Decision decide(const std::vector<Finalist>& finalists, const std::vector<Config>& candidates,
                const SearchOptions& options) {
  const auto table = standings(finalists);
  Decision decision;
  std::size_t equals = 0;
  double reach = 0;
  double noise = 0;
  std::size_t next = finalists.size();  // the best of those that are not equal
  for (std::size_t i = 0; i < finalists.size(); ++i) {
    if (equal(table[i], options)) {
      if (equals++ == 0) decision.position = i;
      reach = std::max(reach, table[i].slower);
      noise = std::max(noise, table[i].noise);
    } else if (next == finalists.size() || table[i].slower < table[next].slower) {
      next = i;
    }
  }
  if (equals > 1) {
    decision.why = fmt::format("tie within {} of {} other{}: first in order (noise {})", percent(reach), equals - 1,
                               equals == 2 ? "" : "s", percent(noise));
  } else if (next < finalists.size()) {
    decision.why = fmt::format("beats {} by {} (noise {})", candidates[finalists[next].candidate].str(),
                               percent(table[next].slower), percent(table[next].noise));
  }
  return decision;
}

}  // namespace strop::tuner
