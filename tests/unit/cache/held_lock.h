#pragma once

// Another process that holds the writers' lock of a database, played by this one: flock counts by open file, not by process.

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <stdexcept>
#include <string>

namespace strop::cache::test {

class HeldLock {
 public:
  explicit HeldLock(const std::string& database) : file_(::open((database + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
    if (file_ < 0 || flock(file_, LOCK_EX) != 0) throw std::runtime_error("locking " + database);
  }
  ~HeldLock() { ::close(file_); }
  HeldLock(const HeldLock&) = delete;
  HeldLock& operator=(const HeldLock&) = delete;

 private:
  int file_;
};

}  // namespace strop::cache::test
