#pragma once

// The one table of settings, and the only place that reads the environment. `strop doctor` prints it with values and origins;
// docs/settings.md is made from it. Values are read once, at the first question, and are the same for the life of the process
// (tests call `reload`). Thread-safe.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace strop::settings {

struct Setting {
  std::string_view name;      // "cache"
  std::string_view variable;  // "STROP_CACHE"
  std::string_view fallback;  // printed default; empty: none
  std::string_view meaning;   // one sentence
  std::string_view accepts = "";  // "number", or the words it may be, separated by spaces; empty: any text. "cuda:N" stands for any N
};

const std::vector<Setting>& table();

struct Value {
  std::string text;
  std::string origin;  // "default", "environment STROP_CACHE"
};

// Throws strop::Error for a name that is not in the table (a programming error).
Value get(std::string_view name);
// What is wrong with the environment: values that a setting does not accept, and STROP_ variables that are no settings. One sentence
// each, with the remedy.
std::vector<std::string> problems();
// A setting that accepts a number; its default where what was given is none (`problems` says so).
std::int64_t number(std::string_view name);
// Non-empty text only.
std::optional<std::string> text(std::string_view name);
void reload();

// Variables that are not ours but decide where things are (HOME, XDG_CACHE_HOME, TMPDIR, CUDA_PATH, CUDA_HOME, CONDA_PREFIX,
// NO_COLOR, ...): read here so that no other file calls getenv.
std::optional<std::string> foreign(const char* variable);

}  // namespace strop::settings
