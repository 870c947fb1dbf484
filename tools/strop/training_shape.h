#pragma once

// From a stored key back to the problem it stands for.

#include <optional>

#include "cache/store.h"
#include "strop/library.h"

namespace strop::cli {

// Empty when no op makes this very key from a training shape (another layout, a user's own kernel).
std::optional<WarmupItem> item_of(const cache::EntryId& id);

}  // namespace strop::cli
