#include "tools/strop/progress_bar.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/base/settings.h"
#include "tools/strop/terminal.h"

namespace strop::cli {
namespace {

constexpr auto kInterval = std::chrono::milliseconds(100);
constexpr int kBarWidth = 20;

std::string bar_of(int done, int all) {
  const int filled = all > 0 ? std::clamp(done * kBarWidth / all, 0, kBarWidth) : 0;
  return std::string(static_cast<std::size_t>(filled), '#') +
         std::string(static_cast<std::size_t>(kBarWidth - filled), '.');
}

}  // namespace

ProgressBar::ProgressBar()
    : shown_(error_is_terminal() && settings::foreign("TERM") != "dumb"),
      escapes_(error_takes_escapes()),
      begin_(std::chrono::steady_clock::now()) {}

ProgressBar::~ProgressBar() {
  if (drawn_ > 0) replace("");
}

void ProgressBar::replace(const std::string& line) {
  if (escapes_)
    draw("\r\033[K" + line);
  else if (line.size() < drawn_)
    draw("\r" + line + std::string(drawn_ - line.size(), ' ') + "\r" + line);
  else
    draw("\r" + line);
  drawn_ = line.size();
}

std::function<void(const Progress&)> ProgressBar::hook() {
  if (!shown_) return {};
  return [this](const Progress& progress) { show(progress); };
}

void ProgressBar::show(const Progress& progress) {
  const auto now = std::chrono::steady_clock::now();
  if (now < next_) return;
  next_ = now + kInterval;
  const double elapsed = std::chrono::duration<double>(now - begin_).count();
  auto line = fmt::format("[{}] key {}/{}  compiled {}/{}  judged {}/{}  {:.0f} s  {} {}",
                          bar_of(progress.judged, progress.to_judge), std::min(progress.keys_done + 1, progress.keys),
                          progress.keys, progress.compiled, progress.to_compile, progress.judged, progress.to_judge,
                          elapsed, progress.kernel, progress.key);
  // One column less than there are, so that no terminal wraps.
  line.resize(std::min(line.size(), static_cast<std::size_t>(std::max(1, error_width() - 1))));
  replace(printable(line));
}

}  // namespace strop::cli
