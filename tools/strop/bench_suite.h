#pragma once

// Named problems of causal_conv1d, as `strop bench` measures them: those of the command line, and the suite of the
// README's table. Plain values.

#include <string>
#include <vector>

#include "strop/causal_conv1d.h"
#include "tools/strop/shapes.h"

namespace strop::cli {

struct BenchRow {
  std::string name;  // unique in a run; what results of one row are joined by
  CausalConv1dProblem problem;
};

std::vector<BenchRow> rows_of(const std::vector<ops::TrainingShape>& shapes);
// `table`: the large and the small dense shapes, ragged lengths, types, slices, odd sizes, packed sequences. UsageError
// for another name.
std::vector<BenchRow> suite(const std::string& name);

}  // namespace strop::cli
