#pragma once

// Lets a stream go that waits for a word in host memory to reach a ticket: when asked, when its scope ends, or when the
// limit has passed, whichever comes first; so that nothing can wait for ever on what is held. Used by one thread; the
// watchdog is its own. Where no thread can be started for it, nothing is held.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

namespace strop::device::cuda {

class Hold {
 public:
  // `word` outlives the hold, and is read by others meanwhile.
  Hold(std::uint32_t* word, std::uint32_t ticket, std::chrono::milliseconds limit);
  ~Hold();
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;

  // False when nothing is held, for want of a watchdog.
  bool watched() const { return watchdog_.joinable(); }
  // False when the watchdog had done it before, or there was none.
  bool let_go();

 private:
  void write();
  void watch(const std::stop_token& stop, std::chrono::milliseconds limit);

  std::uint32_t* word_;
  std::uint32_t ticket_;
  bool in_time_ = true;
  std::atomic<bool> expired_{false};
  std::jthread watchdog_;  // last: it uses the others
};

}  // namespace strop::device::cuda
