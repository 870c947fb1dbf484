#pragma once

// What decides the winner among a kernel's candidates: labelled fields in a fixed order, numbers or words. For causal_conv1d
// these are B, T, D, W and the classes of dtype, layout and flags. Device and versions are not part of a key: the cache keeps
// them in columns of their own.
//
// Text form: `B=16 T=8192 D=2048 W=4 dtype=bf16 ...`, one space between fields, in the order they were added.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace strop {

class Key {
 public:
  using Value = std::variant<std::int64_t, std::string>;
  using Field = std::pair<std::string, Value>;

  // Field names are identifiers; words are of [A-Za-z0-9_.+-] (so that the text form can be read back); others throw
  // strop::Error.
  Key& add(std::string_view name, std::int64_t value);
  Key& add(std::string_view name, std::string_view word);

  const std::vector<Field>& fields() const { return fields_; }
  std::optional<Value> find(std::string_view name) const;
  std::string str() const;
  static std::optional<Key> parse(std::string_view text);

  // How far apart two keys of one kernel are: empty when a word differs or the fields are not the same (their winners mean
  // nothing to each other), else the sum of |log2| of the ratios of the numbers. Used to find the nearest tuned key.
  std::optional<double> distance(const Key& other) const;

  friend bool operator==(const Key&, const Key&) = default;

 private:
  std::vector<Field> fields_;
};

}  // namespace strop
