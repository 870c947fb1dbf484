#pragma once

// The little of ELF that identities and resources need: the GNU build id of a shared library, and a cubin's own account
// of registers and stack. Reads what it is given and nothing else; malformed input gives empty answers.

#include <optional>
#include <string>
#include <string_view>

namespace strop::jit {

// Hex; empty when the file has none or is no ELF file.
std::string gnu_build_id(const std::string& path);
// The build id, or for a library without one (the Python wheels of NVRTC 12) the digest of its bytes, which costs some
// 100 ms. Empty when there is no such file.
std::string library_identity(const std::string& path);

struct CubinFacts {
  std::optional<int> registers;
  std::optional<int> stack_bytes;
  std::optional<int> static_shared;  // of the entry, without what the architecture reserves
};
// `entry` is the kernel's symbol; `target` what it was compiled for ("sm_90a").
CubinFacts read_cubin(std::string_view cubin, std::string_view entry, std::string_view target);

}  // namespace strop::jit
