#pragma once

// One line on standard error that says how far a warmup is; drawn only on a terminal, a few times a second, and wiped
// when done. Used by the thread that runs the warmup.

#include <chrono>
#include <functional>

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
  void draw(const Progress& progress);

  const bool shown_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point begin_;
  std::chrono::steady_clock::time_point next_;
};

}  // namespace strop::cli
