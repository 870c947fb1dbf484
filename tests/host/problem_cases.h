#pragma once

// The problems that the sanitized runner knows by name. An op adds its own with a function of its own and a line in
// problem_cases.cpp.

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "strop/kernel.h"

namespace strop::host_test {

struct ProblemCase {
  Kernel kernel;
  std::shared_ptr<const KernelProblem> problem;
};
using ProblemCases = std::map<std::string, std::function<ProblemCase()>>;

const ProblemCases& problem_cases();

}  // namespace strop::host_test
