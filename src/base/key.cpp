#include "strop/key.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "src/base/format.h"
#include "src/base/identifier.h"
#include "strop/error.h"

namespace strop {
namespace {

bool is_word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '+' || c == '-';
}

bool is_word(std::string_view text) {
  // A word must not read as a number, or the text form would come back as another type.
  return !text.empty() && std::all_of(text.begin(), text.end(), is_word_character) && !to_int(text);
}

std::string value_text(const Key::Value& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) return std::to_string(*number);
  return std::get<std::string>(value);
}

}  // namespace

Key& Key::add(std::string_view name, std::int64_t value) {
  require_identifier(name, "the name of a key field");
  if (find(name)) throw Error(fmt::format("key field '{}' is given twice in {}", name, str()));
  fields_.emplace_back(std::string(name), value);
  return *this;
}

Key& Key::add(std::string_view name, std::string_view word) {
  require_identifier(name, "the name of a key field");
  if (!is_word(word)) throw Error(fmt::format("'{}' can't be the value of key field '{}': letters, digits and _.+- only", word, name));
  if (find(name)) throw Error(fmt::format("key field '{}' is given twice in {}", name, str()));
  fields_.emplace_back(std::string(name), std::string(word));
  return *this;
}

std::optional<Key::Value> Key::find(std::string_view name) const {
  for (const auto& [field, value] : fields_)
    if (field == name) return value;
  return std::nullopt;
}

std::string Key::str() const {
  std::string text;
  for (const auto& [field, value] : fields_) {
    if (!text.empty()) text += ' ';
    text += field + '=' + value_text(value);
  }
  return text;
}

std::optional<Key> Key::parse(std::string_view text) {
  Key key;
  while (!text.empty()) {
    const auto space = text.find(' ');
    const auto field = text.substr(0, space);
    const auto equals = field.find('=');
    if (equals == std::string_view::npos) return std::nullopt;
    const auto name = field.substr(0, equals);
    const auto value = field.substr(equals + 1);
    if (!is_identifier(name) || key.find(name)) return std::nullopt;
    if (const auto number = to_int(value)) key.add(name, *number);
    else if (is_word(value)) key.add(name, value);
    else return std::nullopt;
    if (space == std::string_view::npos) break;
    text = text.substr(space + 1);
    if (text.empty()) return std::nullopt;
  }
  return key;
}

std::optional<double> Key::distance(const Key& other) const {
  if (fields_.size() != other.fields_.size()) return std::nullopt;
  double sum = 0;
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    const auto& [name, value] = fields_[i];
    const auto& [other_name, other_value] = other.fields_[i];
    if (name != other_name || value.index() != other_value.index()) return std::nullopt;
    if (const auto* a = std::get_if<std::int64_t>(&value)) {
      const auto b = std::get<std::int64_t>(other_value);
      if (*a == b) continue;
      if (*a <= 0 || b <= 0) return std::nullopt;
      sum += std::fabs(std::log2(static_cast<double>(*a) / static_cast<double>(b)));
    } else if (value != other_value) {
      return std::nullopt;
    }
  }
  return sum;
}

}  // namespace strop
