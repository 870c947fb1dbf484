#pragma once

// Runs the candidates of problems one after another in this process: compiled on all cores beforehand, equal code once, whatever
// problems it serves. Says which candidate is next before it runs, so that a sanitizer's report that ends the process has a name.

#include <string>
#include <vector>

#include "src/device/device.h"
#include "strop/config.h"

namespace strop::host_test {

// A text in place of another, once, in a template's source: a fault to be found.
struct SourceEdit {
  std::string file, before, after;
};

struct SpaceRun {
  std::vector<std::string> problems;  // names in problem_cases.h
  Config where;                       // only configs that have these values
  // Of the configs that agree in these parameters only the first, with whatever launch parameters; empty: all.
  std::vector<std::string> distinct;
  bool first = false;  // of what is left only the first
  std::vector<SourceEdit> edits;
  std::vector<std::string> flags;  // of the compiler
};

// Throws strop::Error with all wrong results, one a line; also when there is nothing to run.
void run_space(device::Device& device, const SpaceRun& request);

}  // namespace strop::host_test
