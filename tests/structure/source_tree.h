#pragma once

// The project's own files as the structure tests see them: paths below the root with '/', texts by lines. Read once.

#include <string>
#include <vector>

namespace strop::structure {

struct SourceFile {
  std::string path;  // "src/base/log.cpp"
  std::vector<std::string> lines;
};

// Every C++ and device source that is written here, sorted by path.
const std::vector<SourceFile>& sources();

// The room a file belongs to: "include", "base", "device", "jit", "tuner", "cache", "engine", "ops", "templates",
// "tools", "examples", "tests".
std::string room_of(const std::string& path);

struct Include {
  std::string path;
  bool quoted = false;
  int line = 0;
};
std::vector<Include> includes_of(const SourceFile& file);

struct Function {
  std::string head;  // its first line
  int line = 0;
  int length = 0;        // lines from the head to the closing brace
  bool excused = false;  // the comment above it says why it is long: "Long because ..."
};
// Functions at namespace level, found by the shape that clang-format gives them.
std::vector<Function> functions_of(const SourceFile& file);

}  // namespace strop::structure
