#pragma once

// A table that is read on every call and written once a problem: readers look into an immutable open-addressing table behind one
// atomic pointer, with no lock and no allocation; a writer copies it under a mutex. Tables that were replaced are kept until the end, as
// readers may still be in them (a few kilobytes for each problem a job has).

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace strop::ops {

template <class Key, class Value, class Hash>
class PlanTable {
 public:
  // Owned by the table; stays valid as long as it lives.
  const Value* find(const Key& key) const {
    const Slots* slots = current_.load(std::memory_order_acquire);
    if (slots == nullptr) return nullptr;
    for (std::size_t at = Hash()(key);; ++at) {
      const auto& slot = slots->at[at & slots->mask];
      if (slot == nullptr) return nullptr;
      if (slot->first == key) return &slot->second;
    }
  }

  // The first value for a key stays unless `replace`.
  const Value* insert(const Key& key, Value value, bool replace) {
    const std::lock_guard lock(mutex_);
    if (!replace)
      if (const auto* there = find(key)) return there;
    entries_.push_back(std::make_unique<Entry>(key, std::move(value)));
    const Slots* last = tables_.empty() ? nullptr : tables_.back().get();
    const std::size_t size = last == nullptr ? 64 : last->at.size();
    // Doubling whenever it is half full keeps probes short; a copy of the same size is needed too, since readers may be in the last.
    Slots* slots = copy(last, last != nullptr && 2 * (last->used + 1) > size ? 2 * size : size);
    place(*slots, entries_.back().get());
    current_.store(slots, std::memory_order_release);
    return &entries_.back()->second;
  }

 private:
  using Entry = std::pair<const Key, Value>;
  struct Slots {
    std::vector<const Entry*> at;
    std::size_t mask = 0;
    std::size_t used = 0;
  };

  Slots* copy(const Slots* from, std::size_t size) {
    auto slots = std::make_unique<Slots>();
    slots->at.assign(size, nullptr);
    slots->mask = size - 1;
    if (from != nullptr)
      for (const auto* entry : from->at)
        if (entry != nullptr) place(*slots, entry);
    tables_.push_back(std::move(slots));
    return tables_.back().get();
  }

  static void place(Slots& slots, const Entry* entry) {
    for (std::size_t at = Hash()(entry->first);; ++at) {
      auto& slot = slots.at[at & slots.mask];
      if (slot == nullptr) ++slots.used;
      else if (!(slot->first == entry->first)) continue;
      slot = entry;
      return;
    }
  }

  std::mutex mutex_;
  std::vector<std::unique_ptr<Entry>> entries_;
  std::vector<std::unique_ptr<Slots>> tables_;
  std::atomic<const Slots*> current_{nullptr};
};

}  // namespace strop::ops
