#include "strop/config.h"

#include <algorithm>

#include <fmt/format.h>

#include "src/base/format.h"
#include "src/base/identifier.h"
#include "strop/error.h"

namespace strop {
namespace {

auto position(const std::vector<Config::Entry>& entries, std::string_view name) {
  return std::lower_bound(entries.begin(), entries.end(), name,
                          [](const Config::Entry& entry, std::string_view n) { return entry.first < n; });
}

}  // namespace

Config::Config(std::initializer_list<Entry> entries) {
  for (const auto& [name, value] : entries) set(name, value);
}

void Config::set(std::string_view name, std::int64_t value) {
  require_identifier(name, "the name of a parameter");
  const auto at = entries_.begin() + (position(entries_, name) - entries_.begin());
  if (at != entries_.end() && at->first == name) at->second = value;
  else entries_.insert(at, Entry(std::string(name), value));
}

std::optional<std::int64_t> Config::find(std::string_view name) const {
  const auto at = position(entries_, name);
  if (at == entries_.end() || at->first != name) return std::nullopt;
  return at->second;
}

std::int64_t Config::at(std::string_view name) const {
  if (const auto value = find(name)) return *value;
  throw Error(fmt::format("no parameter '{}' in {}", name, str()));
}

std::string Config::str() const {
  std::string text = "{";
  for (const auto& [name, value] : entries_) {
    if (text.size() > 1) text += ", ";
    text += name + '=' + std::to_string(value);
  }
  return text + '}';
}

std::optional<Config> Config::parse(std::string_view text) {
  if (text.size() < 2 || text.front() != '{' || text.back() != '}') return std::nullopt;
  std::string_view rest = text.substr(1, text.size() - 2);
  Config config;
  while (!rest.empty()) {
    const auto comma = rest.find(", ");
    const auto entry = rest.substr(0, comma);
    const auto equals = entry.find('=');
    if (equals == std::string_view::npos) return std::nullopt;
    const auto name = entry.substr(0, equals);
    const auto value = to_int(entry.substr(equals + 1));
    if (!value || !is_identifier(name) || config.contains(name)) return std::nullopt;
    config.set(name, *value);
    if (comma == std::string_view::npos) break;
    rest = rest.substr(comma + 2);
    if (rest.empty()) return std::nullopt;
  }
  return config;
}

}  // namespace strop
