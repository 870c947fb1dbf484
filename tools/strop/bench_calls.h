#pragma once

// Whole calls of causal_conv1d through the public interface, forward and backward with the weight gradient, timed in
// turns with a copy (1 read, 1 write) and an add (2 reads, 1 write) over the same bytes. Buffers rotate past twice the
// L2, so that every call finds it cold. Used by one thread.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "strop/library.h"
#include "tools/strop/bench_suite.h"

namespace strop::cli {

struct CallTime {
  Measurement call;
  Measurement ceiling;                                  // the copy or the add
  double bytes = 0;                                     // that must move: tensors, weights and states, once
  double host_us = 0;                                   // of the calling thread, a call: lookup and launches
  std::vector<std::pair<std::string, Config>> configs;  // a kernel each, as launched; those of states aside
};

struct CallTimes {
  CallTime forward, backward;
};

// Configs are found by the library's policy for what has no winner. `ceilings` is a library on the same device that
// remembers nothing: copy and add are no winners of the user's. Throws OutOfMemory, Unsupported.
CallTimes measure_calls(const std::shared_ptr<Library>& library, Library& ceilings, const CausalConv1dProblem& problem);

}  // namespace strop::cli
