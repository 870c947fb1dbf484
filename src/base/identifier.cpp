#include "src/base/identifier.h"

#include <algorithm>

#include <fmt/format.h>

#include "strop/error.h"

namespace strop {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

bool is_identifier(std::string_view text) {
  return !text.empty() && is_letter(text.front()) &&
         std::all_of(text.begin(), text.end(), [](char c) { return is_letter(c) || is_digit(c); });
}

void require_identifier(std::string_view text, std::string_view what) {
  if (!is_identifier(text))
    throw Error(fmt::format("'{}' can't be {}: letters, digits and underscores only, not beginning with a digit", text, what));
}

}  // namespace strop
