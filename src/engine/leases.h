#pragma once

// The leases that one warmup has, and what it knows of those of others. Processes that share a cache tune each class of code once: one
// has the lease, the others wait for its winners. A lease whose owner is dead is taken at once where that can be seen (the same
// machine), else when its heart has stood still for a while: no clocks of two machines are compared. Thread-safe.

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include "cache/store.h"

namespace strop::engine {

class Leases {
 public:
  struct Times {
    std::chrono::milliseconds beat{2000};    // between two beats of a heart
    std::chrono::milliseconds still{10000};  // a heart that stood still so long is a stopped one's
  };
  explicit Leases(cache::Store& store) : Leases(store, Times{}) {}
  Leases(cache::Store& store, Times times);
  ~Leases();  // gives all back
  Leases(const Leases&) = delete;
  Leases& operator=(const Leases&) = delete;

  // True: this warmup has the lease. Cheap while another has it: a look. One that another has had for `patience` since this was first
  // asked is taken from it, by one of those who wait: the others then wait for that one.
  // `from`, where it is asked for, says whom.
  bool claim(const std::string& scope, const std::string& what, std::chrono::duration<double> patience = std::chrono::hours(24 * 365),
             std::string* from = nullptr);
  void release(const std::string& scope);
  // Who has it, for a sentence; empty: nobody else.
  std::string holder(const std::string& scope);

 private:
  struct Seen {
    cache::Lease lease;
    std::chrono::steady_clock::time_point first;  // of this owner
    std::chrono::steady_clock::time_point since;  // of this beat
  };
  bool abandoned(const cache::Lease& lease, std::chrono::duration<double> patience);
  void beat();

  cache::Store& store_;
  const Times times_;
  const std::string owner_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stop_ = false;
  std::map<std::string, cache::Lease> held_;
  std::map<std::string, Seen> seen_;
  std::thread heart_;  // started with the first lease
};

// Who this is among processes: machine, boot, name space of processes, process and its start, and a number.
std::string lease_owner();
// Whether the owner can be seen to be gone: the same boot and name space, and no such process.
bool owner_is_gone(const std::string& owner);

}  // namespace strop::engine
