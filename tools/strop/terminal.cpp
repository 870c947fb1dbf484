#include "tools/strop/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

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

std::string styled(std::string_view code, std::string_view text) {
  return coloured() ? fmt::format("\033[{}m{}\033[0m", code, text) : std::string(text);
}

}  // namespace

void print(std::string_view text) {
  const int error = write_all(STDOUT_FILENO, text);
  if (error != 0 && error != EPIPE)
    throw OutputError(fmt::format("standard output could not be written: {}", std::strerror(error)));
}

void note(std::string_view text) noexcept { static_cast<void>(write_all(STDERR_FILENO, text)); }

bool output_is_terminal() { return ::isatty(STDOUT_FILENO) == 1; }
bool error_is_terminal() { return ::isatty(STDERR_FILENO) == 1; }
bool input_is_terminal() { return ::isatty(STDIN_FILENO) == 1; }

int error_width() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

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
  std::getline(std::cin, answer);
  return answer == "y" || answer == "Y" || answer == "yes";
}

}  // namespace strop::cli
