#pragma once

// Plans by problem: read on every call, written once a problem. Readers share a lock and take a share in the plan, so that a writer may
// drop it. A job whose lengths vary meets new problems without end: when the table is full it starts over, and the few that are in use
// come back within a call each.

#include <cstddef>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <utility>

namespace strop::ops {

template <class Key, class Value, class Hash>
class PlanTable {
 public:
  explicit PlanTable(std::size_t most = 4096) : most_(most) {}

  // Empty when there is none.
  Value find(const Key& key) const {
    const std::shared_lock lock(mutex_);
    const auto at = values_.find(key);
    return at == values_.end() ? Value() : at->second;
  }

  // The first value for a key stays unless `replace`. Returns the one that is there afterwards.
  Value insert(const Key& key, Value value, bool replace) {
    const std::unique_lock lock(mutex_);
    if (const auto at = values_.find(key); at != values_.end()) {
      if (replace) at->second = std::move(value);
      return at->second;
    }
    if (values_.size() >= most_) values_.clear();
    return values_.emplace(key, std::move(value)).first->second;
  }

  std::size_t size() const {
    const std::shared_lock lock(mutex_);
    return values_.size();
  }

 private:
  const std::size_t most_;
  mutable std::shared_mutex mutex_;
  std::unordered_map<Key, Value, Hash> values_;
};

}  // namespace strop::ops
