#include "jit/includes.h"

#include <algorithm>
#include <cctype>
#include <optional>

namespace strop::jit {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Copies a text without its comments and without the insides of raw strings, either of which may hold a line that looks
// like an include.
class Stripper {
 public:
  explicit Stripper(std::string_view text) : text_(text) {}

  std::string strip() {
    while (at_ < text_.size()) {
      if (starts("//")) {
        skip_to("\n", false);
      } else if (starts("/*")) {
        out_ += ' ';
        skip_to("*/", true);
      } else if (text_[at_] == '"' && raw_prefix()) {
        skip_raw();
      } else if (text_[at_] == '"' || (text_[at_] == '\'' && !follows_word())) {
        copy_literal(text_[at_]);
      } else {
        out_ += text_[at_++];
      }
    }
    return std::move(out_);
  }

 private:
  bool starts(std::string_view what) const { return text_.substr(at_).starts_with(what); }
  bool follows_word() const { return at_ > 0 && is_word(text_[at_ - 1]); }  // 1'000
  bool raw_prefix() const { return at_ > 0 && text_[at_ - 1] == 'R' && (at_ < 2 || !is_word(text_[at_ - 2])); }

  void skip_to(std::string_view what, bool past) {
    const auto found = text_.find(what, at_ + (past ? 2 : 0));
    at_ = found == std::string_view::npos ? text_.size() : found + (past ? what.size() : 0);
  }
  void skip_raw() {
    const auto open = std::min(text_.find('(', at_), text_.size());
    const std::string close = ')' + std::string(text_.substr(at_ + 1, open - std::min(at_ + 1, open))) + '"';
    at_ = open;
    skip_to(close, true);
    out_ += "\"\"";
  }
  void copy_literal(char quote) {
    do {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) out_ += text_[at_++];
      out_ += text_[at_++];
    } while (at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n');
    if (at_ < text_.size()) out_ += text_[at_++];
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string out_;
};

std::string_view without_blanks_before(std::string_view line) {
  return line.substr(std::min(line.find_first_not_of(" \t\r"), line.size()));
}

std::optional<Include> include_in(std::string_view line) {
  line = without_blanks_before(line);
  if (!line.starts_with('#')) return std::nullopt;
  line = without_blanks_before(line.substr(1));
  if (!line.starts_with("include")) return std::nullopt;
  line = without_blanks_before(line.substr(std::string_view("include").size()));
  if (line.empty()) return std::nullopt;
  if (line.front() != '"' && line.front() != '<')
    return Include{Include::Form::macro, std::string(line.substr(0, line.find_first_of(" \t\r")))};
  const bool quoted = line.front() == '"';
  const auto name = line.substr(1, line.find(quoted ? '"' : '>', 1) - 1);
  return Include{quoted ? Include::Form::quoted : Include::Form::angle, std::string(name)};
}

}  // namespace

std::vector<Include> includes_of(std::string_view text) {
  const std::string code = Stripper(text).strip();
  std::vector<Include> found;
  for (std::size_t at = 0; at < code.size();) {
    const auto end = std::min(code.find('\n', at), code.size());
    if (auto include = include_in(std::string_view(code).substr(at, end - at))) found.push_back(std::move(*include));
    at = end + 1;
  }
  return found;
}

}  // namespace strop::jit
