#include "src/device/cuda/hold.h"

#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <system_error>

namespace strop::device::cuda {

Hold::Hold(std::uint32_t* word, std::uint32_t ticket, std::chrono::milliseconds limit)
    : word_(word), ticket_(ticket) {
  try {
    watchdog_ = std::jthread([this, limit](const std::stop_token& stop) { watch(stop, limit); });
  } catch (const std::system_error&) {  // the process has all the threads that it may have
    in_time_ = false;
    write();
  }
}

Hold::~Hold() { let_go(); }

bool Hold::let_go() {
  if (!watchdog_.joinable()) return in_time_;
  in_time_ = !expired_.load();
  write();  // first: joining the thread takes its time
  watchdog_.request_stop();
  watchdog_.join();
  return in_time_;
}

void Hold::write() { std::atomic_ref(*word_).store(ticket_, std::memory_order_release); }

void Hold::watch(const std::stop_token& stop, std::chrono::milliseconds limit) {
  std::mutex mutex;
  std::unique_lock lock(mutex);
  std::condition_variable_any never;
  never.wait_for(lock, stop, limit, [] { return false; });
  if (stop.stop_requested()) return;
  expired_.store(true);
  write();
}

}  // namespace strop::device::cuda
