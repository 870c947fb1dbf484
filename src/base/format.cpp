#include "src/base/format.h"

#include <array>
#include <charconv>
#include <ctime>

#include <fmt/format.h>

namespace strop {

std::string to_text(double value) {
  std::array<char, 64> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value);
  return std::string(text.data(), end.ptr);
}

std::optional<double> to_double(std::string_view text) {
  double value = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || end.ec != std::errc{} || end.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::int64_t> to_int(std::string_view text) {
  std::int64_t value = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || end.ec != std::errc{} || end.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string bytes_text(std::uint64_t bytes) {
  constexpr std::array<std::string_view, 5> kUnits{"B", "KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  return fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::string utc_text(std::int64_t unix_seconds) {
  const std::time_t seconds = unix_seconds;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
                     parts.tm_hour, parts.tm_min, parts.tm_sec);
}

std::int64_t unix_now() { return static_cast<std::int64_t>(std::time(nullptr)); }

namespace {

std::string_view take_part(std::string_view& rest) {
  const auto dot = rest.find('.');
  const auto part = rest.substr(0, dot);
  rest = dot == std::string_view::npos ? std::string_view{} : rest.substr(dot + 1);
  return part;
}

int sign(bool less, bool greater) { return less ? -1 : greater ? 1 : 0; }

}  // namespace

int compare_versions(std::string_view a, std::string_view b) {
  while (!a.empty() || !b.empty()) {
    if (a.empty()) return -1;
    if (b.empty()) return 1;
    const auto x = take_part(a);
    const auto y = take_part(b);
    const auto i = to_int(x);
    const auto j = to_int(y);
    int order = 0;
    if (i && j) order = sign(*i < *j, *i > *j);
    else if (i || j) order = i ? -1 : 1;
    else order = sign(x < y, x > y);
    if (order != 0) return order;
  }
  return 0;
}

}  // namespace strop
