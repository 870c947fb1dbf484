#pragma once

// Asynchronous operations of a kernel, recorded when issued and run when something waits: a missing wait shows as data
// that is not there. Used by one thread.

#include <cstddef>
#include <cstring>
#include <vector>

#include "templates/common/host/abi.h"

namespace strop::device::host {

struct Deferred {
  ::strop::host::AsyncFn run = nullptr;
  unsigned group = 0;
  alignas(16) unsigned char payload[::strop::host::kPayloadBytes] = {};

  Deferred() = default;
  Deferred(::strop::host::AsyncFn function, const void* data, unsigned bytes) : run(function) {
    std::memcpy(payload, data, bytes);
  }
};

// One thread's queue of one kind, in groups (cp.async, wgmma, bulk stores).
class GroupQueue {
 public:
  void push(Deferred operation) {
    operation.group = closed_;
    operations_.push_back(operation);
  }
  void close_group() { ++closed_; }
  // The next operation that a wait for all but the `pending` youngest closed groups must run; null when there is none
  // left.
  const Deferred* due(int pending) const {
    if (head_ == operations_.size()) return nullptr;
    const Deferred& next = operations_[head_];
    return next.group + static_cast<unsigned>(pending) < closed_ ? &next : nullptr;
  }
  void pop() {
    if (++head_ == operations_.size()) operations_.clear(), head_ = 0;
  }
  void reset() {
    operations_.clear();
    head_ = 0;
    closed_ = 0;
  }

 private:
  std::vector<Deferred> operations_;
  std::size_t head_ = 0;
  unsigned closed_ = 0;
};

}  // namespace strop::device::host
