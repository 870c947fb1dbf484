#include "tests/host/problem_cases.h"

#include "tests/host/conv_problems.h"
#include "tests/support/planted_kernel.h"

namespace strop::host_test {

const ProblemCases& problem_cases() {
  static const ProblemCases cases = [] {
    ProblemCases all;
    // Candidates that are right and wrong on purpose; 1000 elements, so that the last block is not full.
    all["planted"] = [] { return ProblemCase{test::planted_kernel({}), std::make_shared<test::PlantedProblem>(1000)}; };
    add_conv_problems(all);
    return all;
  }();
  return cases;
}

}  // namespace strop::host_test
