#pragma once

// The plot of `strop bench --plot`: achieved bandwidth of each row as a share of the limit, forward and backward side
// by side, a bar a contender, with a mark where the copy or the add stands. A pure function.

#include "tools/strop/bench_results.h"

namespace strop::cli {

// An SVG document on a ground of its own, so that it can be read on light and dark pages. Throws Error when the limit
// is not known or there are no rows.
std::string plot_of(const BenchResults& results);

}  // namespace strop::cli
