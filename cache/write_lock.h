#pragma once

// Serialises writers and checkpoints among processes by flock on a side file: SQLite 3.7.0 to 3.51.2 can corrupt a WAL database when a
// write meets a checkpoint. The kernel owns the lock: it dies with its owner. The side file is never deleted.

#include <string>

namespace strop::cache {

class WriteLock {
 public:
  // Waits up to `timeout_ms`; throws SqliteError(SQLITE_BUSY) then. An empty path (memory) locks nothing; a file system that has no
  // flock is used without, and so is a lock that may not be opened, with one warning.
  WriteLock(const std::string& database, int timeout_ms);
  ~WriteLock();
  WriteLock(const WriteLock&) = delete;
  WriteLock& operator=(const WriteLock&) = delete;

 private:
  int file_ = -1;
};

}  // namespace strop::cache
