#pragma once

// A folder of a test's own, removed afterwards, and an environment variable that gets its old value back.

#include <filesystem>
#include <optional>
#include <string>

namespace strop::test {

class TestFolder {
 public:
  TestFolder();
  ~TestFolder();
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }
  // Makes the folders on the way too. Returns the file's path.
  std::string write(const std::string& name, const std::string& text) const;
  bool empty() const { return std::filesystem::is_empty(path_); }

 private:
  std::filesystem::path path_;
};

// Reads the settings anew, now and when it goes.
class Environment {
 public:
  Environment(const char* variable, const std::optional<std::string>& value);
  ~Environment();
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  const char* variable_;
  std::optional<std::string> before_;
};

}  // namespace strop::test
