#pragma once

// What may be a name in configs, keys and spaces: letters, digits and underscores, not beginning with a digit. Checked where names
// enter, because names end up in generated source and in the text forms that the cache stores.

#include <string_view>

namespace strop {

bool is_identifier(std::string_view text);
// Throws strop::Error saying what the name is for.
void require_identifier(std::string_view text, std::string_view what);

}  // namespace strop
