#pragma once

// Tunes one key: space -> compile -> check -> time -> winner -> store. Also re-times the stored best few of a suspect winner, which
// is the same with fewer candidates. Every trial is stored the moment it lands, so that a killed run resumes.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/engine/compile_pool.h"
#include "src/engine/parts.h"

namespace strop::engine {

// A key's candidates, submitted for compilation.
struct Candidates {
  std::vector<Config> configs;           // legal ones, in the fixed order
  std::vector<CompiledFuture> compiled;  // of each config; invalid where `refused` says why it is not compiled
  std::vector<std::string> refused;      // over a device limit: threads, shared memory; empty: compiled
  std::string error;                     // why there are none
};

struct TuningHooks {
  std::function<bool()> stop;                       // budget, cancellation
  std::function<void(int judged)> judged;           // progress
};

struct Job {
  const Kernel* kernel = nullptr;
  std::shared_ptr<const KernelProblem> problem;
  cache::EntryId id;
  std::optional<cache::Winner> suspect;  // set: revalidate this winner
  std::optional<cache::Winner> stored;   // what is served when the tuning comes to nothing
};

// Whether a revalidation found its winner wrong here: it must not be served again.
bool disproved(const Job& job, const KeyReport& report);

// Throws a winner that was found wrong out of the cache, as far as it can be written.
void forget(Parts& parts, const cache::Winner& winner);

// The whole space, or for a revalidation the stored best few, winner first. Submits them to the pool.
Candidates submit_candidates(Parts& parts, CompilePool& pool, const Job& job);

// Judges the candidates and stores the winner. The report's outcome is `failed` with a note when none could win. Throws what ends
// the request: OutOfMemory for the trial's buffers, CudaError when the context is lost, CompileError when there is no compiler.
KeyReport tune_key(Parts& parts, const Job& job, const Candidates& candidates, const TuningHooks& hooks);

}  // namespace strop::engine
