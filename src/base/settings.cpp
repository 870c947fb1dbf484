#include "src/base/settings.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>

#include <fmt/format.h>

#include "src/base/format.h"
#include "strop/error.h"

namespace strop::settings {
namespace {

std::mutex g_mutex;
std::map<std::string, Value, std::less<>> g_values;
bool g_read = false;

void read_all() {
  g_values.clear();
  for (const auto& setting : table()) {
    const std::string variable(setting.variable);
    const char* text = std::getenv(variable.c_str());
    const bool given = text != nullptr && *text != '\0';
    g_values[std::string(setting.name)] =
        given ? Value{text, "environment " + variable} : Value{std::string(setting.fallback), "default"};
  }
  g_read = true;
}

bool is_number(std::string_view text) {
  return !text.empty() && text.size() < 10 && text.find_first_not_of("0123456789") == std::string_view::npos;
}

bool accepted(std::string_view accepts, std::string_view text) {
  if (accepts.empty()) return true;
  if (accepts == "number") return is_number(text);
  for (std::size_t at = 0; at < accepts.size();) {
    const auto end = std::min(accepts.find(' ', at), accepts.size());
    const auto word = accepts.substr(at, end - at);
    if (word == text) return true;
    if (word.ends_with(":N") && text.starts_with(word.substr(0, word.size() - 1)) && is_number(text.substr(word.size() - 1))) return true;
    at = end + 1;
  }
  return false;
}

}  // namespace

const std::vector<Setting>& table() {
  static const std::vector<Setting> settings{
      {"device", "STROP_DEVICE", "auto", "Device of a library opened with \"auto\": auto, cuda, cuda:N or host.", "auto cuda cuda:N host"},
      {"cache", "STROP_CACHE", "", "Cache database: a file, a folder, or :memory: to keep nothing."},
      {"cache_max_mib", "STROP_CACHE_MAX_MIB", "1024", "Size bound of the cache database in MiB; 0: none.", "number"},
      {"on_miss", "STROP_ON_MISS", "tune",
       "What a call does for a key without a winner: tune (a length whose code is tuned runs at once), nearest or error.", "tune nearest error"},
      {"tuning_wait_s", "STROP_TUNING_WAIT_S", "600",
       "Seconds to wait for a living process that tunes the same keys on the same cache; then one of those who wait takes over.", "number"},
      {"log", "STROP_LOG", "warn", "Log level on stderr: off, error, warn, info, debug or trace.", "off error warn info debug trace"},
      {"libcuda", "STROP_LIBCUDA", "", "Driver library to open instead of libcuda.so.1."},
      {"nvrtc", "STROP_NVRTC", "", "NVRTC library, or the folder it is in."},
      {"cxx", "STROP_CXX", "", "C++ compiler of the host device; default: c++, g++ or clang++, the first found."},
      {"compile_threads", "STROP_COMPILE_THREADS", "0", "Compilers run at once; 0: one a core.", "number"},
      {"host_threads", "STROP_HOST_THREADS", "0", "Cores the host device uses; 0: all.", "number"},
  };
  return settings;
}

std::vector<std::string> problems() {
  std::vector<std::string> found;
  for (const auto& setting : table()) {
    const auto value = get(setting.name);
    if (value.origin != "default" && !accepted(setting.accepts, value.text))
      found.push_back(fmt::format("{}={} is not known: {}", setting.variable, value.text,
                                  setting.accepts == "number" ? "give a whole number, 0 or more" : fmt::format("give one of {}", setting.accepts)));
  }
  for (char** at = environ; at != nullptr && *at != nullptr; ++at) {
    const std::string_view word(*at);
    if (!word.starts_with("STROP_")) continue;
    const auto variable = word.substr(0, word.find('='));
    const auto& all = table();
    if (std::none_of(all.begin(), all.end(), [&](const Setting& setting) { return setting.variable == variable; }))
      found.push_back(fmt::format("{} is no setting and has no effect; `strop doctor` lists those there are", variable));
  }
  return found;
}

Value get(std::string_view name) {
  const std::lock_guard lock(g_mutex);
  if (!g_read) read_all();
  const auto at = g_values.find(name);
  if (at == g_values.end()) throw Error(fmt::format("there is no setting '{}'", name));
  return at->second;
}

std::int64_t number(std::string_view name) {
  auto text = get(name).text;
  if (!is_number(text)) {
    const auto& all = table();
    text = std::find_if(all.begin(), all.end(), [&](const Setting& setting) { return setting.name == name; })->fallback;
  }
  return to_int(text).value_or(0);
}

std::optional<std::string> text(std::string_view name) {
  auto value = get(name);
  if (value.text.empty()) return std::nullopt;
  return std::move(value.text);
}

void reload() {
  const std::lock_guard lock(g_mutex);
  read_all();
}

std::optional<std::string> foreign(const char* variable) {
  const char* text = std::getenv(variable);
  if (text == nullptr || *text == '\0') return std::nullopt;
  return std::string(text);
}

}  // namespace strop::settings
