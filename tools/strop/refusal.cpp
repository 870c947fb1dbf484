#include "tools/strop/refusal.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <optional>
#include <string_view>

namespace strop::cli {
namespace {

// What stands between two pieces of a text, the second of which ends it when empty.
std::optional<std::string_view> between(std::string_view text, std::string_view before, std::string_view after) {
  auto begin = text.find(before);
  if (begin == std::string_view::npos) return std::nullopt;
  begin += before.size();
  const auto end = after.empty() ? text.size() : text.find(after, begin);
  if (end == std::string_view::npos) return std::nullopt;
  return text.substr(begin, end - begin);
}

}  // namespace

// The parser tells its kinds of errors apart by words alone; what is not known here is passed on as it is.
std::string sentence_of(const CLI::ParseError& error) {
  std::string raw = error.what();
  const std::string_view text = raw;
  const auto option = text.substr(0, text.find(':'));
  if (const auto times = between(text, ": At Most 1 required but received ", ""))
    return fmt::format("{} is given {} times: give it once (several values with commas, where it takes several)",
                       option, *times);
  if (const auto type = between(text, ": 1 required ", " missing"))
    return fmt::format("{}: needs a value: {} {}", option, option, type->empty() ? "VALUE" : *type);
  if (const auto name = between(text, "Could not convert: ", " = "))
    return fmt::format("{} takes no value, and '{}' was given: say {} or leave it out", *name,
                       between(text, " = ", "").value_or(""), *name);
  if (const auto word = between(text, "argument was not expected: ", ""))
    return fmt::format("'{}' is not known here: leave it out, or look for the right word in the help", *word);
  if (const auto words = between(text, "arguments were not expected: ", ""))
    return fmt::format("'{}' are not known here: leave them out, or look for the right words in the help", *words);
  if (text.ends_with(" is required"))
    return fmt::format("{} is needed, and was not given",
                       text.substr(0, text.size() - std::string_view(" is required").size()));
  return raw;
}

}  // namespace strop::cli
