#pragma once

// The project's own files as the structure tests see them: paths below the root with '/', texts by lines. Read once.

#include <map>
#include <set>
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

// Every text that belongs to the project, documents and build files too; what a build leaves behind is not among them.
const std::vector<SourceFile>& texts();
// One of them; without lines when there is no such file.
const SourceFile& text_of(const std::string& path);

// The lines of the section "Arrows" of the plan: `    engine      base, device  (a remark)`, or `-` for none.
std::map<std::string, std::set<std::string>> arrows_of(const SourceFile& plan);

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
