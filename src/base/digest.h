#pragma once

// Identities. A digest is built from labelled ingredients, so that neighbours can't run together, and the ingredients can be
// printed, so that "why was this a miss?" is a diff of two texts. BLAKE2b-256 from libsodium; hex, 64 characters.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace strop {

std::string digest_of(std::string_view bytes);

class Ingredients {
 public:
  Ingredients& add(std::string_view label, std::string_view value);
  // A long value (a source text) is represented in `text()` by its own digest and length.
  Ingredients& add_blob(std::string_view label, std::string_view bytes);

  // One `label=value` a line, newlines and backslashes escaped, in order: parseable, diff-able, and what is digested.
  const std::string& text() const { return text_; }
  std::string digest() const { return digest_of(text_); }

 private:
  std::string text_;
};

}  // namespace strop
