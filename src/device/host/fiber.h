#pragma once

// A stack that can be left in the middle of a function and entered again, on one thread of the operating system.
// Boost.Context's switch (8 ns) with the sanitizers told of it. A fiber is given up by destroying it: nothing on its
// stack is unwound, so only code that owns nothing at its switch points may run on it (kernels, and this folder).

#include <cstddef>

namespace strop::device::host {

class Fiber {
 public:
  using Body = void (*)(void* argument);

  // The calling thread's own stack.
  Fiber();
  // `body` starts at the first switch to this fiber and must never return. Throws std::bad_alloc.
  Fiber(std::size_t stack_bytes, Body body, void* argument);
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // From this fiber, which must be the running one. Returns when somebody switches back.
  void switch_to(Fiber& to);

 private:
  friend struct FiberEntry;

  void* context_ = nullptr;  // where to go on; valid while not running
  void* mapping_ = nullptr;  // stack and guard page; null for a thread's own stack
  std::size_t mapping_bytes_ = 0;
  const void* bottom_ = nullptr;
  std::size_t bytes_ = 0;
  void* fake_ = nullptr;
  Body body_ = nullptr;
  void* argument_ = nullptr;
};

}  // namespace strop::device::host
