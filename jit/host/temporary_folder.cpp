#include "jit/host/temporary_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <set>
#include <system_error>

#include "src/base/format.h"
#include "src/base/log.h"
#include "src/base/settings.h"
#include "strop/error.h"

namespace strop::jit {
namespace {

namespace fs = std::filesystem;

std::string parent() { return settings::foreign("TMPDIR").value_or("/tmp"); }

struct Folders {
  std::mutex mutex;
  std::set<std::string> open;
};
Folders& folders() {
  static auto* all = new Folders;  // never destroyed: an interrupted process looks at it while it ends
  return *all;
}

// The process in a folder's name, strop-PID-XXXXXX; empty when it is not one of ours.
std::optional<std::int64_t> owner_of(const std::string& name) {
  if (!name.starts_with("strop-")) return std::nullopt;
  const auto end = name.find('-', 6);
  if (end == std::string::npos || name.size() != end + 7) return std::nullopt;
  const auto pid = to_int(name.substr(6, end - 6));
  return pid && *pid > 0 ? pid : std::nullopt;
}

struct Lock {
  int folder = -1;     // open and locked; -1: not to be had
  bool taken = false;  // somebody else has it, or had it and removed the folder
};

Lock lock(const std::string& path) {
  const int folder = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0) return {-1, errno == ENOENT};
  bool taken = flock(folder, LOCK_EX | LOCK_NB) != 0;
  if (taken) {
    taken = errno == EWOULDBLOCK;  // else there are no locks here
  } else {
    struct stat named{};
    struct stat opened{};
    taken = lstat(path.c_str(), &named) != 0 || fstat(folder, &opened) != 0 || named.st_ino != opened.st_ino;
    if (!taken) return {folder, false};
  }
  close(folder);
  return {-1, taken};
}

// What killed processes of this user left behind. A process of another PID namespace has a number that is unknown here, and its folder
// locked.
void sweep() {
  std::error_code failed;
  for (fs::directory_iterator at(parent(), failed), end; !failed && at != end; at.increment(failed)) {
    const auto pid = owner_of(at->path().filename().string());
    struct stat status{};
    if (!pid || lstat(at->path().c_str(), &status) != 0 || !S_ISDIR(status.st_mode) || status.st_uid != geteuid()) continue;
    if (kill(static_cast<pid_t>(*pid), 0) == 0 || errno != ESRCH) continue;
    const auto left = lock(at->path().string());
    if (left.folder < 0) continue;
    std::error_code ignored;
    fs::remove_all(at->path(), ignored);
    close(left.folder);
  }
}

}  // namespace

TemporaryFolder::TemporaryFolder() {
  static std::once_flag swept;
  std::call_once(swept, sweep);
  auto& all = folders();
  const std::lock_guard one(all.mutex);
  Lock mine;
  do {  // a sweep may come between a folder and its lock
    path_ = fmt::format("{}/strop-{}-XXXXXX", parent(), getpid());
    if (mkdtemp(path_.data()) == nullptr)
      throw Error(fmt::format("no temporary folder at {}: {}; set TMPDIR to a folder that can be written", path_,
                              std::generic_category().message(errno)));
    mine = lock(path_);
  } while (mine.taken);
  lock_ = mine.folder;
  all.open.insert(path_);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code failed;
  fs::remove_all(path_, failed);
  if (failed) log::warn(fmt::format("temporary folder {} could not be removed: {}", path_, failed.message()));
  if (lock_ >= 0) close(lock_);
  auto& all = folders();
  const std::lock_guard lock(all.mutex);
  all.open.erase(path_);
}

void remove_temporary_folders() {
  auto& all = folders();
  all.mutex.lock();  // and never unlocked: no thread makes another one while the process ends
  for (const auto& path : all.open) {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
}

}  // namespace strop::jit
