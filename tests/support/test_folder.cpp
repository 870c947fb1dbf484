#include "tests/support/test_folder.h"

#include <cstdlib>
#include <fstream>
#include <stdexcept>

#include "src/base/settings.h"

namespace strop::test {
namespace {

void set(const char* variable, const std::optional<std::string>& value) {
  if (value)
    ::setenv(variable, value->c_str(), 1);
  else
    ::unsetenv(variable);
  settings::reload();
}

}  // namespace

TestFolder::TestFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "strop-test-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
  path_ = pattern;
}

TestFolder::~TestFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string TestFolder::write(const std::string& name, const std::string& text) const {
  const auto file = path_ / name;
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << text;
  return file.string();
}

Environment::Environment(const char* variable, const std::optional<std::string>& value)
    : variable_(variable), before_(settings::foreign(variable)) {
  set(variable, value);
}

Environment::~Environment() { set(variable_, before_); }

}  // namespace strop::test
