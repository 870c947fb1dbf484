#pragma once

// Is a binary whole? The driver is handed a pointer without a length and trusts the offsets in the image, so a cut or
// damaged cubin would make it read past the end. Pure functions on bytes.

#include <optional>
#include <string>
#include <string_view>

namespace strop::device::cuda {

bool is_elf(std::string_view image);

// Empty when every header, segment and section of the ELF image lies inside it; else one sentence.
std::optional<std::string> why_damaged(std::string_view image);

}  // namespace strop::device::cuda
