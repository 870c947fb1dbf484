#pragma once

// The process's table: kernels that are loaded, with the config they run, by the text of their entry. Readers share a lock; the hot
// path of an op has a table of its own in front (src/ops). Also keeps callers of one missing key from doing its work twice: one
// does it, the others wait; a failure is told to those who waited and then forgotten. Thread-safe.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <utility>

#include "src/device/device.h"
#include "strop/kernel.h"
#include "strop/library.h"

namespace strop::engine {

struct Ready {
  Config config;
  Config constants;
  std::string origin;
  bool tuned = false;   // a winner of this key
  bool sought = false;  // what a call that tunes gets where there is no winner: a neighbour that runs the same code, or a stand-in
  // Stands in for a winner that could not be tuned (no room for the trial's buffers, say); tried again from then on.
  std::chrono::steady_clock::time_point good_until = std::chrono::steady_clock::time_point::max();
  std::shared_ptr<device::LoadedKernel> loaded;
};

class ReadyTable {
 public:
  std::shared_ptr<const Ready> find(const std::string& id) const {
    const std::shared_lock lock(mutex_);
    const auto at = entries_.find(id);
    return at == entries_.end() ? nullptr : at->second;
  }

  void put(const std::string& id, std::shared_ptr<const Ready> ready) {
    const std::unique_lock lock(mutex_);
    // Lengths that vary make keys without end. Those without a winner of their own are found again in no time.
    if (entries_.size() >= kMost) std::erase_if(entries_, [](const auto& one) { return !one.second->tuned; });
    auto& entry = entries_[id];
    if (entry && entry->tuned && !ready->tuned) return;  // a caller with a laxer policy came in between
    if (entry) generation_.fetch_add(1, std::memory_order_release);
    entry = std::move(ready);
  }

  // Counts entries that replaced another.
  std::uint64_t generation() const { return generation_.load(std::memory_order_acquire); }

  // Runs `make` unless somebody already does for this id under the same policy; then waits for that one's result. `serves` says of what
  // is there whether it needs no making.
  template <class Serves, class Make>
  std::shared_ptr<const Ready> once(const std::string& id, MissPolicy policy, const Serves& serves, const Make& make) {
    std::promise<std::shared_ptr<const Ready>> promise;
    std::shared_future<std::shared_ptr<const Ready>> theirs;
    {
      const std::lock_guard lock(flights_mutex_);
      const auto [at, mine] = flights_.try_emplace({id, policy});
      if (mine) at->second = promise.get_future().share();
      else theirs = at->second;
    }
    if (theirs.valid()) return theirs.get();
    try {
      auto ready = find(id);  // it may have landed between the caller's look and now
      if (!ready || !serves(*ready)) ready = make();
      if (find(id) != ready) put(id, ready);
      land({id, policy});
      promise.set_value(ready);
      return ready;
    } catch (...) {
      land({id, policy});
      promise.set_exception(std::current_exception());
      throw;
    }
  }

 private:
  static constexpr std::size_t kMost = 4096;

  using Flight = std::pair<std::string, MissPolicy>;
  void land(const Flight& flight) {
    const std::lock_guard lock(flights_mutex_);
    flights_.erase(flight);
  }

  std::atomic<std::uint64_t> generation_{0};
  mutable std::shared_mutex mutex_;
  std::map<std::string, std::shared_ptr<const Ready>> entries_;
  std::mutex flights_mutex_;
  std::map<Flight, std::shared_future<std::shared_ptr<const Ready>>> flights_;
};

}  // namespace strop::engine
