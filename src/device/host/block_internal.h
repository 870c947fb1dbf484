#pragma once

// Private to block*.cpp.

#include "src/device/host/block.h"
#include "src/device/host/sanitizer.h"

namespace strop::device::host {

struct Block::Strand {
  explicit Strand(Block*) {}  // the worker's own
  Strand(std::size_t stack_bytes, Block* block) : fiber(stack_bytes, strand_entry, block) {}
  Fiber fiber;
  int thread = kNobody;
};

class Block::Enter {
 public:
  explicit Enter(Block& block) : block_(block), thread_(block.running_->thread) { block_.become(kNobody); }
  ~Enter() { block_.become(thread_); }
  Enter(const Enter&) = delete;
  Enter& operator=(const Enter&) = delete;

 private:
  Block& block_;
  int thread_;
};

template <class MakeText>
void Block::fail(const MakeText& why, abi::Site site) {
  note_fault(why(), site);
  leave();
}

}  // namespace strop::device::host
