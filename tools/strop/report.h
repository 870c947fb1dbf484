#pragma once

// A library's report for people and for programs; shared by `warmup` and `cache revalidate`.

#include <string>

#include "strop/library.h"
#include "tools/strop/json_values.h"

namespace strop::cli {

// A table of the keys, then the notes that matter.
std::string report_text(const Report& report);
// "2 tuned, 4 hits in 1.32 s: 96 compiles, 102 timings on NVIDIA H200"
std::string summary_of(const Report& report);
// elapsed_s, device, cache, compiles, timings, keys[].
void add_report(Json& json, const Report& report);

}  // namespace strop::cli
