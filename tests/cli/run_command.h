#pragma once

// Runs a program as a user would and keeps what it wrote; output goes to pipes, or to a terminal of its own where a
// test asks for one.

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace strop::test {

enum class Output {
  pipe,      // read to the end
  terminal,  // a pseudo terminal, read to the end
  closed,    // a pipe whose reader has gone
  full,      // /dev/full
};

struct RunOptions {
  Output out = Output::pipe;
  Output err = Output::pipe;
  std::string input;                                                // standard input, then its end
  bool input_is_terminal = false;                                   // `input` is typed on a pseudo terminal
  std::map<std::string, std::optional<std::string>> environment{};  // changes to ours; empty: removed
};

struct Ran {
  int exit_code = -1;  // -1: ended by a signal
  std::string out;
  std::string err;
};

Ran run_program(const std::string& program, const std::vector<std::string>& arguments, const RunOptions& options = {});

}  // namespace strop::test
