#pragma once

// Reads what `ptxas -v` prints into resources. Fields that the log does not have stay -1.

#include <string_view>

#include "strop/trial.h"

namespace strop::jit {

Resources parse_ptxas(std::string_view log);

}  // namespace strop::jit
