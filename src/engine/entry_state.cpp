#include "src/engine/entry_state.h"

#include <fmt/format.h>

namespace strop::engine {
namespace {

bool differs(const std::string& stored, const std::string& here) {
  const auto known = [](const std::string& text) { return !text.empty() && text != "unknown"; };
  return known(stored) && known(here) && stored != here;
}

}  // namespace

std::string_view name(State state) {
  switch (state) {
    case State::current: return "current";
    case State::suspect: return "suspect";
    case State::foreign: return "foreign";
  }
  return "";
}

EntryState state_of(const cache::Winner& winner, const cache::Environment& here) {
  const auto& then = winner.environment;
  if (winner.id.device_class != here.device_class)
    return {State::foreign, fmt::format("timed on {}", then.device_name.empty() ? "another device" : then.device_name)};
  std::string reason;
  const auto note = [&](std::string_view what, const std::string& stored, const std::string& now) {
    if (!differs(stored, now)) return;
    reason += fmt::format("{}{} {} -> {}", reason.empty() ? "" : ", ", what, stored, now);
  };
  note("name", then.device_name, here.device_name);  // equal chips, but perhaps other clocks or power limits
  note("driver", then.driver, here.driver);
  note("user-mode driver", then.driver_user_mode, here.driver_user_mode);
  note("compiler", then.compiler, here.compiler);
  if (!reason.empty()) return {State::suspect, reason};
  return {};
}

EntryState state_of(const cache::Winner& winner, const cache::Environment& here, const std::string& template_digest) {
  if (!template_digest.empty() && winner.id.template_digest != template_digest)
    return {State::foreign, "the kernel's template or space has changed since"};
  return state_of(winner, here);
}

}  // namespace strop::engine
