#pragma once

// The gate: a whitelist. Everything it knows is implemented; everything else is refused with a reason.

#include <optional>
#include <string>

#include "strop/causal_conv1d.h"

namespace strop::ops {

std::optional<std::string> why_unsupported(const CausalConv1dProblem& problem);

}  // namespace strop::ops
