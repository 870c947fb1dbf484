#pragma once

// The little of ELF that identities and resources need: the GNU build id of a shared library, and a cubin's own account of
// registers and stack. Reads what it is given and nothing else; malformed input gives empty answers.

#include <optional>
#include <string>
#include <string_view>

namespace strop::jit {

// Hex; empty when the file has none or is no ELF file.
std::string gnu_build_id(const std::string& path);

struct CubinFacts {
  std::optional<int> registers;
  std::optional<int> stack_bytes;
  std::optional<int> static_shared;  // of the entry, without what the architecture reserves
};
// `entry` is the kernel's symbol.
CubinFacts read_cubin(std::string_view cubin, std::string_view entry);

}  // namespace strop::jit
