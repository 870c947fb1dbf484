#pragma once

// A private folder (0700) under the temporary directory, removed with everything in it when destroyed. Move-less, one owner. It is
// locked (flock) while it lives, so that processes that can't see each other (containers that share /tmp) leave each other's alone.

#include <string>

namespace strop::jit {

class TemporaryFolder {
 public:
  TemporaryFolder();  // throws strop::Error naming the place
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  int lock_ = -1;  // the open folder; -1 where there are no locks
};

// All of this process, for one that is about to end by a signal: from then on who wants one waits for that end. What a killed process
// leaves is removed by the next that needs one.
void remove_temporary_folders();

}  // namespace strop::jit
