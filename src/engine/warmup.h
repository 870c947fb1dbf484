#pragma once

// Warmup: many keys at once. Known keys are loaded; the candidates of all others are compiled ahead in parallel while keys are
// tuned one after another, the most expensive problem first.

#include "src/engine/parts.h"
#include "src/engine/ready_table.h"
#include "strop/library.h"

namespace strop::engine {

// Never throws for what went wrong with one key: its outcome is `failed` and its note says why.
Report warm_up(Parts& parts, ReadyTable& table, std::span<const WarmupItem> items, const WarmupOptions& options);
Report revalidate(Parts& parts, ReadyTable& table, std::span<const WarmupItem> items, const RevalidateOptions& options);

// The failed keys of a report as one message; empty when there are none.
std::string failures(const Report& report);

}  // namespace strop::engine
