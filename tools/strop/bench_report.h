#pragma once

// Whole calls in words: a row as JSON, and results as a table for a terminal and as Markdown for a document. Pure
// functions.

#include "tools/strop/bench_calls.h"
#include "tools/strop/bench_results.h"

namespace strop::cli {

// What a row is: name, shape, types, layout, x_strides, alignment, sequences, the switches of the layer, cu_seqlens.
Json row_json(const BenchRow& row);
// Adds forward and backward. `limit_gbps` 0: not known.
void add_times(Json& json, const CallTimes& times, double limit_gbps);

std::string results_text(const BenchResults& results);
std::string results_markdown(const BenchResults& results);

}  // namespace strop::cli
