#include "src/base/digest.h"

#include <array>

#include <fmt/format.h>
#include <sodium.h>

namespace strop {

std::string digest_of(std::string_view bytes) {
  std::array<unsigned char, 32> hash{};
  crypto_generichash(hash.data(), hash.size(), reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(),
                     nullptr, 0);
  std::string hex(2 * hash.size() + 1, '\0');
  sodium_bin2hex(hex.data(), hex.size(), hash.data(), hash.size());
  hex.pop_back();
  return hex;
}

Ingredients& Ingredients::add(std::string_view label, std::string_view value) {
  text_ += label;
  text_ += '=';
  for (const char c : value) {
    if (c == '\n') text_ += "\\n";
    else if (c == '\\') text_ += "\\\\";
    else text_ += c;
  }
  text_ += '\n';
  return *this;
}

Ingredients& Ingredients::add_blob(std::string_view label, std::string_view bytes) {
  return add(label, fmt::format("{} ({} bytes)", digest_of(bytes), bytes.size()));
}

}  // namespace strop
