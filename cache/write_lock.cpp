#include "cache/write_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include <fmt/format.h>

#include "cache/sqlite.h"
#include "src/base/log.h"

namespace strop::cache {

namespace {

// Said where a lock is there and may not be used: writers then meet in SQLite alone.
void warn_of(const std::string& path, int error) {
  struct stat facts {};
  if (::lstat(path.c_str(), &facts) != 0) return;
  log::warn_once("cache-lock:" + path,
                 fmt::format("{} can't be opened ({}), so writers of the cache beside it are not kept apart, and some versions of SQLite "
                             "can damage it then: let its owner give the permission or remove it",
                             path, std::strerror(error)));
}

}  // namespace

WriteLock::WriteLock(const std::string& database, int timeout_ms) {
  if (database.empty()) return;
  const auto path = database + ".lock";
  file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file_ < 0) {  // SQLite's own locks remain; a folder in which nothing can be created fails at the write itself
    warn_of(path, errno);
    return;
  }
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
  auto pause = std::chrono::milliseconds(1);
  while (::flock(file_, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) return;
    if (std::chrono::steady_clock::now() > deadline) {
      ::close(file_);
      file_ = -1;
      throw SqliteError(SQLITE_BUSY, fmt::format("another process has held {} for {} ms", path, timeout_ms));
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::milliseconds(20));
  }
}

WriteLock::~WriteLock() {
  if (file_ < 0) return;
  ::flock(file_, LOCK_UN);  // closing alone would leave it to a child that was forked meanwhile
  ::close(file_);
}

}  // namespace strop::cache
