#pragma once

// Finds the winner among candidates. The engine gives a Judge, which compiles, loads, checks and samples; this code
// decides the order, stops the hopeless early, re-times finalists interleaved, and breaks ties inside the noise by a
// fixed order, so that two machines of one kind agree. A bad candidate is a recorded verdict, never a number in a
// comparison and never an abort.

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "strop/trial.h"
#include "tuner/measure.h"

namespace strop::tuner {

class Judge {
 public:
  virtual ~Judge() = default;
  // Makes candidate i ready to be timed: compile (or wait for it), load, check. Returns its trial so far: verdict ok
  // means ready. Never throws for what a candidate did. Asked at most once a candidate.
  virtual Trial prepare(std::size_t candidate) = 0;
  // Times a ready candidate. A fault is reported by throwing: OutOfMemory gives the verdict out_of_memory, a CudaError
  // that leaves no usable context gives crashed and ends the search (thrown on), any other strop::Error gives
  // launch_failed.
  virtual std::vector<double> sample(std::size_t candidate, int batches) = 0;
  // Called the moment a trial's outcome is known, and again when a finalist has been re-timed or has failed in the
  // final. Trials known from an earlier run are not landed again, unless re-timed.
  virtual void landed(const Trial& trial) = 0;
  // True: stop as soon as possible (budget, cancellation). Asked before each candidate, and in the final before each
  // timing.
  virtual bool stop() = 0;
  // The order in which to take what is left: indices whose binaries are ready come first. Default: as declared. The
  // very first candidate, the default config, is taken without asking.
  virtual std::optional<std::size_t> next(const std::vector<std::size_t>& left) { return left.front(); }
};

struct SearchOptions {
  StoppingRule rule;
  int finalists =
      4;  // best few that are re-timed, interleaved, before the winner is named; with ties up to twice as many
  int final_rounds = 5;   // interleaved rounds
  int final_batches = 5;  // batches a finalist a round
  double tie = 0.01;  // medians closer than this share, or than the noise, are equal: the first in declared order wins
  double tie_at_most = 0.015;  // however large the noise, what is slower than this share is not equal
  double limit_us = 0;  // time at the memory limit; a candidate within `at_limit` of it ends the search. 0: not known
  double at_limit = 1.01;
};

struct SearchResult {
  std::optional<std::size_t> winner;  // index into the candidates
  std::vector<Trial> trials;          // one a candidate that was reached, in the order judged
  std::vector<std::size_t> reached;   // candidate index of each trial
  int timings = 0;                    // candidates timed (a finalist's second timing not counted again)
  bool stopped = false;               // before all were judged
  std::string why;  // "beats {..} by 3.1 % (noise 0.4 %)", "tie within 0.6 % of 2 others: first in order (noise ..)"
};

// `known` holds trials of an earlier, interrupted search, by candidate: their verdicts and times are taken as they are
// (but one that was out of memory is judged again). Finalists are prepared and timed in any case.
SearchResult search(const std::vector<Config>& candidates, Judge& judge, const SearchOptions& options,
                    const std::vector<std::optional<Trial>>& known = {});

}  // namespace strop::tuner
