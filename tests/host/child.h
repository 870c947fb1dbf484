#pragma once

// Runs a program to its end and keeps what it wrote: sanitizers end the process that they find something in.

#include <string>
#include <vector>

namespace strop::host_test {

struct ChildResult {
  int exit_code = -1;  // 128 + signal when one ended it
  std::string output;  // stdout and stderr
};

// With a temporary folder of its own as TMPDIR, removed afterwards. Address space randomisation is off for it where
// that is allowed: ThreadSanitizer of older compilers does not start under the wide randomisation of newer kernels.
ChildResult run_child(const std::vector<std::string>& command);

}  // namespace strop::host_test
