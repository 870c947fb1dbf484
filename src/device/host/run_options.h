#pragma once

// How the host device runs a grid. CUDA promises no order of threads and blocks, so every order must give the same
// result; tests run several.

namespace strop::device::host {

enum class Order { forward, reverse, random };

struct RunOptions {
  Order order = Order::forward;  // of threads, of released threads, of blocks, of bulk copies
  unsigned seed = 1;             // for Order::random
  bool eager_copies = false;     // asynchronous operations happen when issued instead of when waited for
  int workers = 0;               // threads of the operating system; 0: one a core
  double livelock_seconds = 10;  // spinning this long without any progress in the block ends the kernel
};

}  // namespace strop::device::host
