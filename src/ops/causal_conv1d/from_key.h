#pragma once

// From a stored key back to a problem of the op that has this very key. A pure function.

#include <optional>
#include <string>

#include "strop/library.h"

namespace strop::ops {

// Dense tensors, aligned as far as the key asks for. Empty for another op's kernel, a key of strided tensors (the key says that they
// are strided, not how), and a key that is none of ours. The number of packed sequences is in no key: one is taken; see from_key.cpp.
std::optional<WarmupItem> conv_item_of(const std::string& kernel, const Key& key);

}  // namespace strop::ops
