#pragma once

// What a stored winner is worth here and now. `current`: serve it. `suspect`: driver or compiler changed since it was timed; served
// at once, worth re-timing. `foreign`: timed on another kind of device, or for a template or space of another build; kept, not served.

#include <string>
#include <string_view>

#include "cache/store.h"

namespace strop::engine {

enum class State { current, suspect, foreign };
std::string_view name(State state);

struct EntryState {
  State state = State::current;
  std::string reason;  // empty when current; "driver 580.159.03 -> 590.44.01", "timed on NVIDIA A100", ...
};

// `here` is where it would run; fields that are "unknown" or empty on either side are no evidence of change. `template_digest` is this
// build's for the winner's kernel; empty: not compared (the kernel is not one of this build's).
EntryState state_of(const cache::Winner& winner, const cache::Environment& here);
EntryState state_of(const cache::Winner& winner, const cache::Environment& here, const std::string& template_digest);

}  // namespace strop::engine
