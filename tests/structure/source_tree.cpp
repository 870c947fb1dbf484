#include "tests/structure/source_tree.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>

namespace strop::structure {
namespace {

namespace fs = std::filesystem;

bool is_source(const fs::path& path) {
  const auto extension = path.extension();
  return extension == ".h" || extension == ".cpp" || extension == ".cuh";
}

bool is_text(const fs::path& path) {
  static const std::set<std::string> extensions{".md",   ".txt", ".cmake", ".in",  ".sh",
                                                ".json", ".svg", ".py",    ".yml", ".yaml"};
  return is_source(path) || extensions.contains(path.extension().string()) || path.parent_path().filename() == ".ci";
}

SourceFile read(const fs::path& path, const fs::path& root) {
  SourceFile file{fs::relative(path, root).generic_string(), {}};
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) file.lines.push_back(line);
  return file;
}

std::vector<SourceFile> read_folders(const std::vector<std::string>& folders, bool (*wanted)(const fs::path&)) {
  std::vector<SourceFile> files;
  const fs::path root = STROP_SOURCE_ROOT;
  for (const auto& folder : folders) {
    if (!fs::exists(root / folder)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(root / folder))
      if (entry.is_regular_file() && wanted(entry.path())) files.push_back(read(entry.path(), root));
  }
  return files;
}

std::vector<SourceFile> sorted(std::vector<SourceFile> files) {
  std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
  return files;
}

const std::vector<std::string> kCode{"include",   "src",   "jit",      "tuner", "cache",
                                     "templates", "tools", "examples", "tests"};
const std::vector<std::string> kOthers{"docs", "cmake", ".ci", "benchmarks"};

std::vector<SourceFile> read_all() { return sorted(read_folders(kCode, is_source)); }

std::vector<SourceFile> read_all_texts() {
  auto files = read_folders(kCode, is_text);
  auto others = read_folders(kOthers, is_text);
  files.insert(files.end(), others.begin(), others.end());
  const fs::path root = STROP_SOURCE_ROOT;
  for (const auto& entry : fs::directory_iterator(root))
    if (entry.is_regular_file() && is_text(entry.path()) && entry.path().filename() != "CMakeUserPresets.json")
      files.push_back(read(entry.path(), root));
  return sorted(std::move(files));
}

// What begins a block at column 0 that is no function.
bool is_scope(const std::string& line) {
  static const std::regex scope(
      R"(^(inline )?(namespace|class|struct|union|enum|extern|template <[^(]*> (class|struct))\b.*|.*=\s*\{$)");
  return std::regex_match(line, scope) && line.find(") {") == std::string::npos;
}

bool has_reason_above(const SourceFile& file, std::size_t head) {
  for (std::size_t i = head; i > 0 && file.lines[i - 1].starts_with("//"); --i) {
    if (file.lines[i - 1].find("Long because ") != std::string::npos) return true;
  }
  return false;
}

// Follows raw strings line by line: the text of a kernel in a test has include lines of its own.
class RawStrings {
 public:
  // Whether the line begins inside one.
  bool begins_inside(const std::string& line) {
    static const std::regex opens(R"re((^|\W)R"(\w*)\()re");
    const bool inside = !close_.empty();
    std::size_t at = 0;
    std::smatch match;
    for (std::string rest = line;; rest = line.substr(at)) {
      if (close_.empty()) {
        if (!std::regex_search(rest, match, opens)) break;
        close_ = ")" + match[2].str() + "\"";
        at += static_cast<std::size_t>(match.position(0) + match.length(0));
      } else {
        const auto end = rest.find(close_);
        if (end == std::string::npos) break;
        at += end + close_.size();
        close_.clear();
      }
    }
    return inside;
  }

 private:
  std::string close_;
};

}  // namespace

const std::vector<SourceFile>& sources() {
  static const std::vector<SourceFile> files = read_all();
  return files;
}

const std::vector<SourceFile>& texts() {
  static const std::vector<SourceFile> files = read_all_texts();
  return files;
}

const SourceFile& text_of(const std::string& path) {
  static const SourceFile none;
  const auto at = std::find_if(texts().begin(), texts().end(), [&](const auto& file) { return file.path == path; });
  return at == texts().end() ? none : *at;
}

std::map<std::string, std::set<std::string>> arrows_of(const SourceFile& plan) {
  static const std::regex pattern(R"(^    (\w+) +(-|\w+(?:, \w+)*)(?: +\(.*\))?$)");
  static const std::regex word(R"(\w+)");
  std::map<std::string, std::set<std::string>> arrows;
  bool inside = false;
  for (const auto& line : plan.lines) {
    if (line.starts_with("## ")) inside = line == "## Arrows";
    std::smatch match;
    if (!inside || !std::regex_match(line, match, pattern)) continue;
    const std::string seen = match[2];
    arrows[match[1]] = std::set<std::string>(std::sregex_token_iterator(seen.begin(), seen.end(), word), {});
  }
  return arrows;
}

std::string room_of(const std::string& path) {
  const auto slash = path.find('/');
  const auto first = path.substr(0, slash);
  return first == "src" ? path.substr(slash + 1, path.find('/', slash + 1) - slash - 1) : first;
}

std::vector<Include> includes_of(const SourceFile& file) {
  static const std::regex pattern(R"(^\s*#\s*include\s*([<"])([^>"]+)[>"].*)");
  std::vector<Include> found;
  RawStrings raw;
  for (std::size_t i = 0; i < file.lines.size(); ++i) {
    std::smatch match;
    if (raw.begins_inside(file.lines[i])) continue;
    if (std::regex_match(file.lines[i], match, pattern))
      found.push_back({match[2], match[1] == "\"", static_cast<int>(i) + 1});
  }
  return found;
}

std::vector<Function> functions_of(const SourceFile& file) {
  std::vector<Function> found;
  const auto& lines = file.lines;
  std::size_t head = 0;  // first line of the statement that line i belongs to
  bool in_statement = false;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto& line = lines[i];
    if (line.empty() || line[0] == '#' || line[0] == '}' || line.starts_with("//")) {
      in_statement = false;
      continue;
    }
    if (line[0] != ' ' && !in_statement) {
      head = i;
      in_statement = true;
    }
    if (!in_statement) continue;
    if (line.back() == ';') in_statement = false;
    if (line.back() != '{' || is_scope(lines[head]) || is_scope(line)) {
      if (line.back() == '{') in_statement = false;
      continue;
    }
    std::size_t end = i;
    while (end < lines.size() && !(lines[end].starts_with("}"))) ++end;
    found.push_back(
        {lines[head], static_cast<int>(head) + 1, static_cast<int>(end - head) + 1, has_reason_above(file, head)});
    in_statement = false;
    i = end;
  }
  return found;
}

}  // namespace strop::structure
