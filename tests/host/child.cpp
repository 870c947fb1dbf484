#include "tests/host/child.h"

#include <sys/personality.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>

namespace strop::host_test {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void become(const std::vector<std::string>& command, const std::string& folder, int out) {
  dup2(out, STDOUT_FILENO);
  dup2(out, STDERR_FILENO);
  personality(ADDR_NO_RANDOMIZE);
  setenv("TMPDIR", folder.c_str(), 1);
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  execv(words[0], words.data());
  _exit(127);
}

std::string read_all(int from) {
  std::string text;
  std::array<char, 4096> piece;
  for (;;) {
    const ssize_t got = read(from, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(piece.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace

ChildResult run_child(const std::vector<std::string>& command) {
  std::string folder = (fs::temp_directory_path() / "strop-child-XXXXXX").string();
  int pipes[2];
  if (!mkdtemp(folder.data()) || pipe(pipes) != 0) throw std::runtime_error("cannot prepare a child process");
  const pid_t child = fork();
  if (child == 0) become(command, folder, pipes[1]);
  close(pipes[1]);
  ChildResult result;
  if (child > 0) {
    result.output = read_all(pipes[0]);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  close(pipes[0]);
  std::error_code ignored;
  fs::remove_all(folder, ignored);
  return result;
}

}  // namespace strop::host_test
