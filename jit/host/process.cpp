#include "jit/host/process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <string_view>
#include <system_error>
#include <mutex>
#include <set>
#include <thread>

namespace strop::jit {
namespace {

using Clock = std::chrono::steady_clock;

class SpawnSettings {
 public:
  explicit SpawnSettings(const Process& process) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions_, STDOUT_FILENO, process.output.c_str(), O_CREAT | O_WRONLY | O_TRUNC,
                                     0600);
    posix_spawn_file_actions_adddup2(&actions_, STDOUT_FILENO, STDERR_FILENO);
#if __GLIBC_PREREQ(2, 34)
    // A lock file of the application must not stay locked because a compiler is still running.
    posix_spawn_file_actions_addclosefrom_np(&actions_, STDERR_FILENO + 1);
#endif
    if (!process.folder.empty()) posix_spawn_file_actions_addchdir_np(&actions_, process.folder.c_str());
    posix_spawnattr_init(&attributes_);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setpgroup(&attributes_, 0);
    sigset_t signals;
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&attributes_, &signals);
    // A compiler that inherits "SIGCHLD is ignored" loses the exit codes of its own children.
    for (const int signal : {SIGCHLD, SIGPIPE, SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, signal);
    posix_spawnattr_setsigdefault(&attributes_, &signals);
  }
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;
  const posix_spawn_file_actions_t* actions() const { return &actions_; }
  const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

std::vector<std::string> environment_of(const Process& process) {
  std::vector<std::string> variables;
  const auto changed = [&](std::string_view variable) {
    return std::any_of(process.environment.begin(), process.environment.end(),
                       [&](const auto& change) { return variable.starts_with(change.first + '='); });
  };
  for (char** at = environ; at != nullptr && *at != nullptr; ++at)
    if (!changed(*at)) variables.emplace_back(*at);
  for (const auto& [name, value] : process.environment)
    if (value) variables.push_back(name + '=' + *value);
  return variables;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (auto& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// The groups that run now.
struct Running {
  std::mutex mutex;
  std::set<pid_t> groups;
  bool ended = false;
};
Running& running() {
  static auto& all = *new Running;  // outlives every thread
  return all;
}

// Kills the group and waits a moment until the kernel has ended all of it, so that none of it writes into a folder that
// is being removed. What remains then is a corpse that its new parent has not buried yet.
void kill_group(pid_t group) {
  for (int i = 0; i < 100 && kill(-group, SIGKILL) == 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

std::optional<int> exit_code(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }

void wait_for(pid_t pid, double timeout_s, ProcessResult& result) {
  const auto deadline = Clock::now() + std::chrono::duration<double>(timeout_s);
  auto pause = std::chrono::microseconds(500);
  for (;;) {
    int status = 0;
    const pid_t done = waitpid(pid, &status, WNOHANG);
    if (done == pid) result.exit_code = exit_code(status);
    if (done == pid || (done < 0 && errno != EINTR)) break;
    if (!result.timed_out && Clock::now() > deadline) {
      result.timed_out = true;
      kill(-pid, SIGKILL);
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::microseconds(4000));
  }
  if (result.timed_out) kill_group(pid);
}

}  // namespace

ProcessResult run_process(const Process& process) {
  ProcessResult result;
  const SpawnSettings settings(process);
  auto arguments = process.arguments;
  auto variables = environment_of(process);
  const auto argv = pointers_to(arguments);
  const auto envp = pointers_to(variables);
  pid_t pid = 0;
  std::unique_lock lock(running().mutex);
  if (running().ended) {
    result.error = "this process is ending";
    return result;
  }
  if (const int failed =
          posix_spawnp(&pid, argv[0], settings.actions(), settings.attributes(), argv.data(), envp.data());
      failed != 0) {
    result.error = std::generic_category().message(failed);
    return result;
  }
  running().groups.insert(pid);
  lock.unlock();
  result.started = true;
  wait_for(pid, process.timeout_s, result);
  lock.lock();
  running().groups.erase(pid);
  return result;
}

void end_processes() {
  const std::lock_guard lock(running().mutex);
  running().ended = true;
  for (const auto group : running().groups) kill_group(group);
}

}  // namespace strop::jit
