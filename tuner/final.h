#pragma once

// The final between the best few: who is fastest, who is equal within the noise, and what may be said of it. Pure
// functions on samples taken in interleaved rounds. Finalists are compared round by round, so that a clock that drifts
// or jumps between rounds meets all alike and falls out of the ratios.

#include <cstddef>
#include <string>
#include <vector>

#include "strop/config.h"
#include "strop/trial.h"
#include "tuner/search.h"

namespace strop::tuner {

struct Finalist {
  std::size_t candidate = 0;
  Measurement first;                        // its timing before the final
  std::vector<std::vector<double>> rounds;  // the samples of each round; may be empty or hold nothing usable
};

struct Standing {
  double slower = 0;  // its time over the best one's, less 1
  double noise = 0;   // how well that is known, as a share; infinite when there were too few rounds to tell
};

// One a finalist. `finalists` is not empty.
std::vector<Standing> standings(const std::vector<Finalist>& finalists);

struct Decision {
  std::size_t position = 0;  // of the winner, among the finalists
  std::string why;
};

// `finalists` are in declared order and not empty; the first of the equal ones wins.
Decision decide(const std::vector<Finalist>& finalists, const std::vector<Config>& candidates,
                const SearchOptions& options);

}  // namespace strop::tuner
