#include "tests/cli/run_command.h"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <stdexcept>
#include <utility>

namespace strop::test {
namespace {

// The two ends of one stream: `ours` is read or written here, `theirs` becomes the child's.
struct Ends {
  int ours = -1;
  int theirs = -1;
};

void must(bool worked, const char* what) {
  if (!worked) throw std::runtime_error(what);
}

Ends make_pipe(bool child_reads) {
  std::array<int, 2> ends{};
  must(::pipe2(ends.data(), O_CLOEXEC) == 0, "pipe2");
  return child_reads ? Ends{ends[1], ends[0]} : Ends{ends[0], ends[1]};
}

Ends make_terminal() {
  Ends ends;
  must(::openpty(&ends.ours, &ends.theirs, nullptr, nullptr, nullptr) == 0, "openpty");
  ::fcntl(ends.ours, F_SETFD, FD_CLOEXEC);
  ::fcntl(ends.theirs, F_SETFD, FD_CLOEXEC);
  return ends;
}

Ends make_output(Output kind) {
  if (kind == Output::terminal) return make_terminal();
  if (kind == Output::full) return {-1, ::open("/dev/full", O_WRONLY | O_CLOEXEC)};
  auto ends = make_pipe(false);
  if (kind == Output::closed) {
    ::close(ends.ours);
    ends.ours = -1;
  }
  return ends;
}

std::vector<std::string> environment_of(const RunOptions& options) {
  std::vector<std::string> variables;
  for (char** at = environ; *at != nullptr; ++at) {
    const std::string variable = *at;
    if (!options.environment.contains(variable.substr(0, variable.find('=')))) variables.push_back(variable);
  }
  for (const auto& [name, value] : options.environment) {
    if (value) variables.push_back(name + "=" + *value);
  }
  return variables;
}

std::vector<char*> pointers_of(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (auto& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Reads both to their ends; a terminal ends with an error when the child is gone.
void read_all(Ends out, Ends err, Ran& ran) {
  std::array<pollfd, 2> polled{pollfd{out.ours, POLLIN, 0}, pollfd{err.ours, POLLIN, 0}};
  const std::array<std::string*, 2> texts{&ran.out, &ran.err};
  while (polled[0].fd >= 0 || polled[1].fd >= 0) {
    if (::poll(polled.data(), polled.size(), -1) < 0) continue;
    for (std::size_t i = 0; i < polled.size(); ++i) {
      if (polled[i].fd < 0 || polled[i].revents == 0) continue;
      std::array<char, 4096> block{};
      const auto got = ::read(polled[i].fd, block.data(), block.size());
      if (got > 0)
        texts[i]->append(block.data(), static_cast<std::size_t>(got));
      else
        polled[i].fd = -1;
    }
  }
}

}  // namespace

Ran run_program(const std::string& program, const std::vector<std::string>& arguments, const RunOptions& options) {
  const auto in = options.input_is_terminal ? make_terminal() : make_pipe(true);
  const auto out = make_output(options.out), err = make_output(options.err);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in.theirs, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out.theirs, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err.theirs, STDERR_FILENO);
  std::vector<std::string> words{program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  auto variables = environment_of(options);
  pid_t child = -1;
  const int failed = ::posix_spawn(&child, program.c_str(), &actions, nullptr, pointers_of(words).data(),
                                   pointers_of(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  for (const auto& ends : {in, out, err}) ::close(ends.theirs);
  must(failed == 0, "posix_spawn");

  must(::write(in.ours, options.input.data(), options.input.size()) == static_cast<ssize_t>(options.input.size()),
       "write");
  if (!options.input_is_terminal) ::close(in.ours);
  Ran ran;
  read_all(out, err, ran);
  int status = 0;
  must(::waitpid(child, &status, 0) == child, "waitpid");
  if (options.input_is_terminal) ::close(in.ours);
  for (const auto& ends : {out, err}) {
    if (ends.ours >= 0) ::close(ends.ours);
  }
  ran.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return ran;
}

}  // namespace strop::test
