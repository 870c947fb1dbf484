// Naming and selecting entries.

#include <fnmatch.h>

#include <algorithm>

#include <fmt/format.h>

#include "cache/store.h"
#include "src/base/digest.h"
#include "src/base/format.h"
#include "strop/error.h"

namespace strop::cache {
namespace {

constexpr std::size_t kHandleDigits = 12;

bool is_handle_prefix(const std::string& text) {
  return text.size() >= 4 && text.size() <= kHandleDigits &&
         std::all_of(text.begin(), text.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

struct VersionCondition {
  std::string comparison;
  std::string version;
};

// Digits with dots between; `unknown` is a version only to be equal to.
bool is_version(const VersionCondition& parsed) {
  if (parsed.version == "unknown") return parsed.comparison.find_first_of("<>") == std::string::npos;
  return parsed.version.find_first_not_of("0123456789.") == std::string::npos && parsed.version.front() != '.' && parsed.version.back() != '.' &&
         parsed.version.find("..") == std::string::npos;
}

VersionCondition parse_version_condition(const std::string& condition) {
  const auto at = std::min(condition.find_first_not_of("<>="), condition.size());
  VersionCondition parsed{condition.substr(0, at), condition.substr(at)};
  if (parsed.version.empty() || !is_version(parsed))
    throw CacheError(fmt::format("'{}' is no version condition: write '<590', '<=580.95', '>570' or '=580.159.03'", condition));
  for (const char* known : {"", "<", "<=", "=", ">=", ">"})
    if (parsed.comparison == known) return parsed;
  throw CacheError(fmt::format("'{}' is no version comparison: known are <, <=, =, >=, >", parsed.comparison));
}

bool version_matches(const VersionCondition& condition, const std::string& version) {
  const auto& [comparison, wanted] = condition;
  if (version == "unknown" || version.empty()) return comparison.empty() || comparison == "=" ? version == wanted : false;
  const int order = compare_versions(version, wanted);
  if (comparison == "<") return order < 0;
  if (comparison == "<=") return order <= 0;
  if (comparison == ">") return order > 0;
  if (comparison == ">=") return order >= 0;
  return order == 0;
}

std::string lower(std::string text) {
  for (auto& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

bool device_matches(const std::string& wanted, const Winner& winner) {
  return winner.id.device_class.starts_with(fmt::format("kind={}\n", wanted)) ||
         lower(winner.environment.device_name).find(lower(wanted)) != std::string::npos;
}

bool kernel_matches(const std::string& wanted, const std::string& kernel) {
  std::string pattern;  // only * and ? are special
  for (const char c : wanted) {
    if (c == '[' || c == '\\') pattern += '\\';
    pattern += c;
  }
  return fnmatch(pattern.c_str(), kernel.c_str(), 0) == 0;
}

bool key_matches(const std::string& wanted, const EntryId& id) {
  if (is_handle_prefix(wanted) && handle(id).starts_with(wanted)) return true;
  const auto fields = Key::parse(wanted);
  if (!fields) return false;
  return std::all_of(fields->fields().begin(), fields->fields().end(), [&](const Key::Field& field) {
    const auto value = id.key.find(field.first);
    return value && *value == field.second;
  });
}

}  // namespace

std::string handle(const EntryId& id) {
  return Ingredients()
      .add("kernel", id.kernel)
      .add("key", id.key.str())
      .add("device_class", id.device_class)
      .add("template", id.template_digest)
      .digest()
      .substr(0, kHandleDigits);
}

void require_well_formed(const Filter& filter) {
  if (!filter.driver.empty()) parse_version_condition(filter.driver);
  if (!filter.key.empty() && !is_handle_prefix(filter.key) && !Key::parse(filter.key))
    throw CacheError(fmt::format(
        "'{}' is neither the handle of an entry (at least 4 hex digits, see `strop cache list`) nor fields like 'D=2048 W=4'", filter.key));
}

bool matches(const Winner& winner, const Filter& filter) {
  require_well_formed(filter);
  if (!filter.kernel.empty() && !kernel_matches(filter.kernel, winner.id.kernel)) return false;
  if (!filter.key.empty() && !key_matches(filter.key, winner.id)) return false;
  if (!filter.device.empty() && !device_matches(filter.device, winner)) return false;
  if (!filter.driver.empty() && !version_matches(parse_version_condition(filter.driver), winner.environment.driver)) return false;
  if (filter.older_than_s && std::max(winner.tuned_at, winner.revalidated_at) > unix_now() - *filter.older_than_s) return false;
  return true;
}

}  // namespace strop::cache
