#include "tools/strop/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <iostream>

#include "src/base/settings.h"
#include "tools/strop/command.h"

namespace strop::cli {
namespace {

// 0, or the errno of the write that failed.
int write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const auto written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

// Bytes of the character that the text begins with, 0 for what must not reach a terminal.
std::size_t harmless_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const auto lead = byte(0);
  if (lead < 0x80) return (lead >= 0x20 && lead != 0x7f) || lead == '\n' || lead == '\t' ? 1 : 0;
  // U+0080 to U+009F are controls too: U+009B begins an escape sequence like ESC [.
  if (lead < 0xc2 || lead > 0xf4 || (lead == 0xc2 && byte(1) < 0xa0)) return 0;
  const std::size_t length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  const bool overlong = (lead == 0xe0 && byte(1) < 0xa0) || (lead == 0xf0 && byte(1) < 0x90);
  const bool no_character = (lead == 0xed && byte(1) > 0x9f) || (lead == 0xf4 && byte(1) > 0x8f);
  return overlong || no_character ? 0 : length;
}

constexpr std::array<std::string_view, 6> kStyles{"\033[0m", "\033[1m", "\033[2m", "\033[31m", "\033[32m", "\033[33m"};

std::size_t style_length(std::string_view text) {
  const auto found = std::find_if(kStyles.begin(), kStyles.end(), [&](auto style) { return text.starts_with(style); });
  return found == kStyles.end() ? 0 : found->size();
}

std::string shown(std::string_view text, bool styles) {
  std::string out;
  while (!text.empty()) {
    auto length = styles ? style_length(text) : 0;
    if (length == 0) length = harmless_length(text);
    if (length == 0)
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text.front()));
    else
      out += text.substr(0, length);
    text.remove_prefix(std::max<std::size_t>(1, length));
  }
  return out;
}

std::string styled(std::string_view code, std::string_view text) {
  return coloured() ? fmt::format("\033[{}m{}\033[0m", code, text) : std::string(text);
}

}  // namespace

void print(std::string_view text) {
  // To a file or a pipe goes every byte: a path may have any.
  const int error = write_all(STDOUT_FILENO, output_is_terminal() ? shown(text, coloured()) : std::string(text));
  if (error != 0 && error != EPIPE)
    throw OutputError(fmt::format("standard output could not be written: {}", std::strerror(error)));
}

void note(std::string_view text) noexcept {
  try {
    static_cast<void>(write_all(STDERR_FILENO, shown(text, coloured())));
  } catch (...) {  // no memory for a copy: the words matter more than what they may do to a terminal
    static_cast<void>(write_all(STDERR_FILENO, text));
  }
}

void draw(std::string_view text) noexcept { static_cast<void>(write_all(STDERR_FILENO, text)); }

std::string printable(std::string_view text) { return shown(text, false); }

bool output_is_terminal() { return ::isatty(STDOUT_FILENO) == 1; }
bool error_is_terminal() { return ::isatty(STDERR_FILENO) == 1; }
bool input_is_terminal() { return ::isatty(STDIN_FILENO) == 1; }

int error_width() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

bool error_takes_escapes() { return !settings::foreign("NO_COLOR") && settings::foreign("TERM") != "dumb"; }

bool coloured() {
  static const bool answer =
      output_is_terminal() && !settings::foreign("NO_COLOR") && settings::foreign("TERM") != "dumb";
  return answer;
}

std::string bold(std::string_view text) { return styled("1", text); }
std::string dim(std::string_view text) { return styled("2", text); }
std::string good(std::string_view text) { return styled("32", text); }
std::string warning(std::string_view text) { return styled("33", text); }
std::string bad(std::string_view text) { return styled("31", text); }

bool confirm(const std::string& question) {
  if (!input_is_terminal() || !error_is_terminal())
    throw UsageError(fmt::format(
        "{} There is no terminal to ask on: say --yes to do it, or --dry-run to see what it would do", question));
  note(question + " [y/N] ");
  std::string answer;
  if (!std::getline(std::cin, answer)) note("\n");
  return answer == "y" || answer == "Y" || answer == "yes";
}

}  // namespace strop::cli
