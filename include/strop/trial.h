#pragma once

// One candidate's recorded outcome. Plain values; what the cache stores and the command prints.

#include <cstdint>
#include <string>
#include <string_view>
#include <optional>

#include "strop/config.h"

namespace strop {

enum class Verdict {
  ok,
  does_not_compile,
  too_much_shared_memory,
  does_not_load,
  launch_failed,
  wrong_result,
  wrote_outside,      // a guard zone, an input or an element it must not touch was changed
  not_reproducible,   // two equal runs differ
  too_slow,           // did not finish in time, or hopeless before all samples were taken
  crashed,            // ended the child process in which it was judged
  out_of_memory,      // says nothing about the candidate; tried again next time
  not_compiled,       // the compiler was killed, timed out or found no room: likewise
};

std::string_view name(Verdict v);  // "ok", "does_not_compile", ...
// Whether a verdict says something of the candidate, and not of the machine at that moment. Only such trials are stored.
bool settled(Verdict v);
std::optional<Verdict> parse_verdict(std::string_view text);

// What the compiler says of a binary. -1: not known (the host has no registers to count).
struct Resources {
  int registers = -1;          // a thread
  int spill_store_bytes = -1;  // a thread
  int spill_load_bytes = -1;
  int stack_bytes = -1;
  int static_shared = -1;      // bytes a block
};

// Times of one candidate, per launch; on a cold L2 but for very small problems (docs/measurement.md).
struct Measurement {
  double median_us = 0;
  double spread_us = 0;  // half the distance between the quartiles
  double min_us = 0;
  int samples = 0;
};

struct Trial {
  Config config;
  Verdict verdict = Verdict::ok;
  std::string detail;  // first wrong element, compiler's first error line, ...
  Measurement time;    // samples == 0 when it was never timed
  Resources resources;
  int dynamic_shared = 0;
  double compile_ms = 0;
};

}  // namespace strop
