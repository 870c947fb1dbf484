#pragma once

// The include lines of a template text. A scan, not a preprocessor: comments and strings are understood, conditions are
// not, so an include in a branch that is not taken counts too.

#include <string>
#include <string_view>
#include <vector>

namespace strop::jit {

struct Include {
  enum class Form { quoted, angle, macro };
  Form form = Form::quoted;
  std::string name;  // between the quotes or brackets; the macro's name
};

std::vector<Include> includes_of(std::string_view text);

}  // namespace strop::jit
