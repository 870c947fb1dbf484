#pragma once

// Numbers to text and back without the locale (NVRTC before 12.6.2 changes the process's), and small words for messages.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace strop {

std::string to_text(double value);               // shortest text that reads back to the same double
std::optional<double> to_double(std::string_view text);
std::optional<std::int64_t> to_int(std::string_view text);
std::string bytes_text(std::uint64_t bytes);     // "12.3 MiB"
std::string utc_text(std::int64_t unix_seconds); // "2026-12-01T09:00:00Z"
std::int64_t unix_now();

// Compares dotted versions number by number ("590.44" < "590.100"); words compare as text after numbers. <0, 0, >0.
int compare_versions(std::string_view a, std::string_view b);

}  // namespace strop
