#pragma once

// A private folder (0700) under the temporary directory, removed with everything in it when destroyed. Move-less, one owner.

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
};

}  // namespace strop::jit
