#include "src/base/settings.h"

#include <cstdlib>
#include <map>
#include <mutex>

#include <fmt/format.h>

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

}  // namespace

const std::vector<Setting>& table() {
  static const std::vector<Setting> settings{
      {"device", "STROP_DEVICE", "auto", "Device of a library opened with \"auto\": auto, cuda, cuda:N or host."},
      {"cache", "STROP_CACHE", "", "Cache database: a file, a folder, or :memory: to keep nothing."},
      {"cache_max_mib", "STROP_CACHE_MAX_MIB", "1024", "Size bound of the cache database in MiB; 0: none."},
      {"on_miss", "STROP_ON_MISS", "tune", "What a call does for a key that has no winner: tune, nearest or error."},
      {"log", "STROP_LOG", "warn", "Log level on stderr: off, error, warn, info, debug or trace."},
      {"libcuda", "STROP_LIBCUDA", "", "Driver library to open instead of libcuda.so.1."},
      {"nvrtc", "STROP_NVRTC", "", "NVRTC library, or the folder it is in."},
      {"cxx", "STROP_CXX", "", "C++ compiler of the host device; default: c++, g++ or clang++, the first found."},
      {"compile_threads", "STROP_COMPILE_THREADS", "0", "Compilers run at once; 0: one a core."},
      {"host_threads", "STROP_HOST_THREADS", "0", "Cores the host device uses; 0: all."},
  };
  return settings;
}

Value get(std::string_view name) {
  const std::lock_guard lock(g_mutex);
  if (!g_read) read_all();
  const auto at = g_values.find(name);
  if (at == g_values.end()) throw Error(fmt::format("there is no setting '{}'", name));
  return at->second;
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
