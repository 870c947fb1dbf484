#include "tools/strop/progress_bar.h"

#include <fmt/format.h>

#include <algorithm>

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

ProgressBar::ProgressBar() : shown_(error_is_terminal()), begin_(std::chrono::steady_clock::now()) {}

ProgressBar::~ProgressBar() {
  if (drawn_) note("\r\033[K");
}

std::function<void(const Progress&)> ProgressBar::hook() {
  if (!shown_) return {};
  return [this](const Progress& progress) { draw(progress); };
}

void ProgressBar::draw(const Progress& progress) {
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
  note("\r\033[K" + line);
  drawn_ = true;
}

}  // namespace strop::cli
