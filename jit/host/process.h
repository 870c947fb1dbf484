#pragma once

// Runs a program to its end: argument array (never a shell), own process group, output to a file, killed with everything it started
// when it takes too long.

#include <string>
#include <vector>

namespace strop::jit {

struct ProcessResult {
  bool started = false;
  bool timed_out = false;
  int exit_code = -1;  // 128 + signal when it was killed
  std::string error;   // why it did not start
};

ProcessResult run_process(const std::vector<std::string>& arguments, const std::string& output_file, double timeout_s);

}  // namespace strop::jit
