#pragma once

// One line on standard error that says how far a warmup is; drawn only on a terminal that is not dumb, a few times a second,
// and wiped when done; without escape sequences under NO_COLOR. Used by the thread that runs the warmup.

#include <chrono>
#include <functional>
#include <string>

#include "strop/library.h"

namespace strop::cli {

class ProgressBar {
 public:
  ProgressBar();
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  // To be given to WarmupOptions; empty when nothing is to be drawn. Must not outlive the bar.
  std::function<void(const Progress&)> hook();

 private:
  void show(const Progress& progress);
  void replace(const std::string& line);

  const bool shown_;
  const bool escapes_;     // else a line is wiped with spaces
  std::size_t drawn_ = 0;  // columns
  std::chrono::steady_clock::time_point begin_;
  std::chrono::steady_clock::time_point next_;
};

}  // namespace strop::cli
