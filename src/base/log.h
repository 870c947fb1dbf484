#pragma once

// The log: spdlog on stderr, level and format from the setting STROP_LOG (off, error, warn, info, debug, trace; default warn).
// Callers format with fmt and pass a finished line, so that spdlog stays in one source file. Thread-safe.

#include <string>
#include <string_view>

namespace strop::log {

void debug(std::string_view line);
void info(std::string_view line);
void warn(std::string_view line);
void error(std::string_view line);

// Warns once per process for each `id` ("cache-damaged:/path"): later calls with the same id are debug lines.
void warn_once(const std::string& id, std::string_view line);

// Everything warned or worse is also given here when set (tests, the command's --json). Pass nullptr to unset.
using Sink = void (*)(std::string_view level, std::string_view line, void* user);
void set_sink(Sink sink, void* user);

}  // namespace strop::log
