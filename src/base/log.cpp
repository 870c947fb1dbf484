#include "src/base/log.h"

#include <memory>
#include <mutex>
#include <set>

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include "src/base/settings.h"

namespace strop::log {
namespace {

struct Hook {
  std::mutex mutex;
  Sink sink = nullptr;
  void* user = nullptr;
  std::set<std::string> warned;
};

// Never destroyed: destructors of other statics may still log.
Hook& hook() {
  static auto* instance = new Hook;
  return *instance;
}

spdlog::logger& logger() {
  static auto* instance = [] {
    const bool plain = settings::foreign("NO_COLOR").has_value();
    auto sink = std::make_shared<spdlog::sinks::stderr_color_sink_mt>(plain ? spdlog::color_mode::never
                                                                           : spdlog::color_mode::automatic);
    auto* made = new spdlog::logger("strop", std::move(sink));
    made->set_pattern("strop: %^%l%$: %v");
    const auto level = settings::get("log").text;
    made->set_level(spdlog::level::from_str(level));
    if (spdlog::level::from_str(level) == spdlog::level::off && level != "off") {
      made->set_level(spdlog::level::warn);
      made->warn("STROP_LOG={} is no level; known are off, error, warn, info, debug, trace. Using warn.", level);
    }
    return made;
  }();
  return *instance;
}

void report(std::string_view level, std::string_view line) {
  Hook& h = hook();
  const std::lock_guard lock(h.mutex);
  if (h.sink != nullptr) h.sink(level, line, h.user);
}

}  // namespace

void debug(std::string_view line) { logger().debug("{}", line); }
void info(std::string_view line) { logger().info("{}", line); }

void warn(std::string_view line) {
  logger().warn("{}", line);
  report("warn", line);
}

void error(std::string_view line) {
  logger().error("{}", line);
  report("error", line);
}

void warn_once(const std::string& id, std::string_view line) {
  bool first = false;
  {
    Hook& h = hook();
    const std::lock_guard lock(h.mutex);
    first = h.warned.insert(id).second;
  }
  if (first) warn(line);
  else debug(line);
}

void set_sink(Sink sink, void* user) {
  Hook& h = hook();
  const std::lock_guard lock(h.mutex);
  h.sink = sink;
  h.user = user;
}

}  // namespace strop::log
