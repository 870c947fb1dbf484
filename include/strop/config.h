#pragma once

// Named integers: a config (a value for every tunable parameter of a kernel) and the fixed compile-time constants of a
// specialisation are both of this type. A config is named by its content, never by an index, so that a stored winner keeps its
// meaning when the space changes.
//
// Text form: `{rows=16, vec=4}`, names in alphabetical order, base-10, no locale. It is stable: the cache stores it.

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace strop {

class Config {
 public:
  using Entry = std::pair<std::string, std::int64_t>;

  Config() = default;
  Config(std::initializer_list<Entry> entries);

  // Adds or replaces. Names are C identifiers; others throw strop::Error.
  void set(std::string_view name, std::int64_t value);
  // The value of `name`; throws strop::Error naming it when it is not there.
  std::int64_t at(std::string_view name) const;
  std::optional<std::int64_t> find(std::string_view name) const;
  bool contains(std::string_view name) const { return find(name).has_value(); }
  // Shorthand for `at`, as int, for launch arithmetic.
  int operator[](std::string_view name) const { return static_cast<int>(at(name)); }

  const std::vector<Entry>& entries() const { return entries_; }  // sorted by name
  bool empty() const { return entries_.empty(); }
  std::string str() const;
  // Reads the text form; empty when the text is not one.
  static std::optional<Config> parse(std::string_view text);

  friend bool operator==(const Config&, const Config&) = default;
  // NOLINTNEXTLINE(modernize-use-nullptr): it means the 0 of `(a <=> b) < 0`, which is what `a < b` is rewritten to
  friend auto operator<=>(const Config&, const Config&) = default;

 private:
  std::vector<Entry> entries_;
};

}  // namespace strop
