#include "tools/strop/arguments.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "src/base/format.h"
#include "tools/strop/command.h"

namespace strop::cli {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t factor;
};

// "1.5GiB" -> 1.5 and the factor of GiB; empty when it is no number with one of the units.
std::optional<double> with_unit(std::string_view text, const std::vector<Unit>& units) {
  const auto end = text.find_first_not_of("0123456789.");
  const auto number = to_double(text.substr(0, end));
  const auto unit = end == std::string_view::npos ? std::string_view() : text.substr(end);
  const auto found = std::find_if(units.begin(), units.end(), [&](const Unit& u) { return u.name == unit; });
  if (!number || found == units.end()) return std::nullopt;
  return *number * static_cast<double>(found->factor);
}

bool all_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

bool whole_number(std::string_view text) { return all_digits(text.starts_with('-') ? text.substr(1) : text); }

}  // namespace

std::vector<std::int64_t> parse_sizes(const std::string& option, const std::string& text) {
  std::vector<std::int64_t> sizes;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const auto end = std::min(text.find(',', begin), text.size());
    const auto word = text.substr(begin, end - begin);
    begin = end + 1;
    if (!whole_number(word))
      throw UsageError(
          fmt::format("{}: '{}' is not a whole number (give one, or several with commas: 2048,4096)", option, word));
    const auto value = to_int(word);
    if (word.starts_with('-') || (value && *value == 0))
      throw UsageError(fmt::format("{}: {} must be at least 1", option, word));
    if (!value || *value > kLargestSize)
      throw UsageError(fmt::format("{}: {} is too large, at most {}", option, word, kLargestSize));
    if (std::find(sizes.begin(), sizes.end(), *value) == sizes.end()) sizes.push_back(*value);
  }
  return sizes;
}

std::int64_t parse_size(const std::string& option, const std::string& text) {
  if (!whole_number(text)) throw UsageError(fmt::format("{}: '{}' is not one whole number", option, text));
  return parse_sizes(option, text).front();
}

double parse_seconds(const std::string& option, const std::string& text) {
  const auto seconds = to_double(text);
  if (!seconds || !std::isfinite(*seconds))
    throw UsageError(fmt::format("{}: '{}' is not a number of seconds", option, text));
  if (*seconds <= 0) throw UsageError(fmt::format("{}: {} must be more than 0 seconds", option, text));
  if (*seconds > 366.0 * 86400) throw UsageError(fmt::format("{}: {} is more than a year", option, text));
  return *seconds;
}

std::int64_t parse_age(const std::string& option, const std::string& text) {
  static const std::vector<Unit> units{{"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}, {"w", 604800}};
  const auto seconds = with_unit(text, units);
  if (!seconds || *seconds > 1e11)
    throw UsageError(
        fmt::format("{}: '{}' is no age; write a number and its unit: 90s, 15m, 12h, 30d or 2w", option, text));
  return static_cast<std::int64_t>(*seconds);
}

std::uint64_t parse_bytes(const std::string& option, const std::string& text) {
  static const std::vector<Unit> units = [] {
    std::vector<Unit> made{{"", 1}, {"B", 1}};
    std::int64_t factor = 1024;
    for (const auto& names : {std::array<std::string_view, 3>{"K", "KB", "KiB"},
                              {"M", "MB", "MiB"},
                              {"G", "GB", "GiB"},
                              {"T", "TB", "TiB"}}) {
      for (const auto name : names) made.push_back({name, factor});
      factor *= 1024;
    }
    return made;
  }();
  const auto bytes = with_unit(text, units);
  if (!bytes || *bytes < 0 || *bytes > 1e18)
    throw UsageError(fmt::format("{}: '{}' is no size; write a number and its unit: 512M or 2GiB", option, text));
  return static_cast<std::uint64_t>(*bytes);
}

DType parse_float_type(const std::string& option, const std::string& text) {
  const auto type = parse_dtype(text);
  if (!type || (*type != DType::bf16 && *type != DType::fp16 && *type != DType::fp32))
    refuse_choice(option, text, {"bf16", "fp16", "fp32"});
  return *type;
}

DType parse_index_type(const std::string& option, const std::string& text) {
  const auto type = parse_dtype(text);
  if (!type || (*type != DType::int32 && *type != DType::int64)) refuse_choice(option, text, {"int32", "int64"});
  return *type;
}

Activation parse_activation(const std::string& option, const std::string& text) {
  if (text == "none") return Activation::none;
  if (text != "silu" && text != "swish") refuse_choice(option, text, {"silu", "none"});
  return Activation::silu;
}

std::string parse_device(const std::string& option, const std::string& text) {
  const bool numbered = text.starts_with("cuda:") && all_digits(text.substr(5)) && text.size() <= 8;
  if (text != "auto" && text != "cuda" && text != "host" && !numbered)
    refuse_choice(option, text, {"auto", "cuda", "cuda:N", "host"});
  return text;
}

std::string parse_arch(const std::string& option, const std::string& text) {
  if (!text.starts_with("sm_") || !all_digits(text.substr(3)) || text.size() > 7)
    throw UsageError(fmt::format("{}: '{}' is no architecture of a GPU; write it like sm_90", option, text));
  return text;
}

void refuse_choice(std::string_view what, std::string_view given, const std::vector<std::string>& known) {
  throw UsageError(fmt::format("{}: '{}' is not known; choose from {}", what, given, fmt::join(known, ", ")));
}

}  // namespace strop::cli
