#pragma once

// Runs a program to its end: argument array (never a shell), own process group, output to a file, killed with
// everything it started when it takes too long. The program inherits no file descriptor, signal mask or ignored signal
// of ours.

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace strop::jit {

struct Process {
  std::vector<std::string> arguments;  // the first is the program, looked up in PATH when it has no slash
  std::string output;                  // file that gets stdout and stderr
  std::string folder;                  // working folder; empty: ours
  // Changes to the environment: a value, or taken out.
  std::vector<std::pair<std::string, std::optional<std::string>>> environment;
  double timeout_s = 60;
};

struct ProcessResult {
  bool started = false;
  bool timed_out = false;
  // 128 + signal when it was killed; empty when somebody else took it (this process ignores SIGCHLD).
  std::optional<int> exit_code;
  std::string error;  // why it did not start
  bool failed() const { return !started || timed_out || exit_code.value_or(0) != 0; }
};

ProcessResult run_process(const Process& process);

// Ends all programs that run now, with everything they started, and starts no more: for the last moments of a process.
void end_processes();

}  // namespace strop::jit
