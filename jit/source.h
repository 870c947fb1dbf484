#pragma once

// What the two toolchains and the identities share: the names in the generated source, and the options that each
// compiler gets. Pure functions.

#include <string>
#include <string_view>
#include <vector>

namespace strop::jit {

// The name a profiler shows: "strop_" and the kernel's, with "_" for what no name in C may hold.
std::string entry_name(std::string_view kernel);

inline bool is_host(std::string_view target) { return !target.starts_with("sm_"); }
std::string_view prelude(bool host);

// NVRTC's options for a target.
std::vector<std::string> cuda_options(const std::string& target);
// What NVRTC adds to them by itself, from the variable NVRTC_APPEND_FLAGS; mostly empty.
std::string cuda_options_from_outside();
// The C++ compiler's options, without those that name files.
const std::vector<std::string>& host_options();

}  // namespace strop::jit
