#pragma once

// From a key to a loaded kernel without tuning: the store's winner, or the nearest tuned key's config, or the default. Used by
// prepare and by warmup's hits.

#include <memory>
#include <optional>

#include "src/engine/entry_state.h"
#include "src/engine/parts.h"
#include "src/engine/ready_table.h"

namespace strop::engine {

std::string table_id(const cache::EntryId& id);

// The stored winner, its state told to the user once. Empty: a miss. A config that the space does not have for this problem (a row
// edited by hand, or by another program) is told once and is a miss too: it would reach geometry, arguments and device.
std::optional<cache::Winner> find_winner(Parts& parts, const Kernel& kernel, const KernelProblem& problem, const cache::EntryId& id);

// Why a stored config can't be one of this kernel's candidates; empty when it can.
std::string why_foreign(const Kernel& kernel, const Config& constants, const Config& config, const DeviceFacts& facts);

// Loads a config's binary from the store, compiling it if it is not there or does not load. `geometry` gives the shared memory.
// Throws NotReady when sealed and it would have to be compiled, CompileError, CudaError.
std::shared_ptr<device::LoadedKernel> load_config(Parts& parts, const Kernel& kernel, const KernelProblem& problem, const Config& config);

// The same as an entry of the process's table.
std::shared_ptr<Ready> load_ready(Parts& parts, const Kernel& kernel, const KernelProblem& problem, const Config& config, const std::string& origin);

// Throws when a problem's constants are not those of another under the same key: its arguments would go to another kernel.
void require_same_constants(const Config& there, const Config& constants, const cache::EntryId& id);

// Verdicts after which a config must not run, whatever else there is to run.
bool disproves(Verdict verdict);

// Tells the user, once a change, that a winner timed before it is served as it is.
void tell_if_suspect(const cache::Winner& winner, const cache::Environment& here);

// The config of the nearest tuned key that is legal here, else the default config; none that this key's own trials found wrong: throws
// Error with their verdicts when there is no other.
std::shared_ptr<const Ready> nearest_or_default(Parts& parts, const Kernel& kernel, const KernelProblem& problem, const cache::EntryId& id);

// The nearest tuned key that runs the very binary this problem would run with its config: they differ in run-time arguments (lengths)
// alone. Empty when there is none.
std::shared_ptr<const Ready> neighbour_of_same_code(Parts& parts, const Kernel& kernel, const KernelProblem& problem, const cache::EntryId& id);

}  // namespace strop::engine
