#pragma once

// Reads what `ptxas -v` prints about one entry into resources. Fields that the log does not have stay -1.

#include <string_view>

#include "strop/trial.h"

namespace strop::jit {

// Spills and stack are those of the entry and of what it calls out of line.
Resources parse_ptxas(std::string_view log, std::string_view entry);

}  // namespace strop::jit
