#pragma once

// The version of this build; CMakeLists.txt has the same (a test compares).

#include <string_view>

namespace strop {

inline constexpr std::string_view kVersion = "0.1.0";

}  // namespace strop
