#pragma once

// The threads of the operating system that run blocks: one pool for the process, made at the first launch, one grid at
// a time. Thread-safe: concurrent launches queue up. Workers block all signals, so that a program's handlers run on its
// own threads. The child of a fork has none of its parent's threads, and gets a pool of its own, which it keeps.

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "src/device/host/grid.h"

namespace strop::device::host {

class WorkerPool {
 public:
  // Of this process: to be asked again for each launch.
  static std::shared_ptr<WorkerPool> shared();
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // Returns when every block has run. Throws KernelFault with the first report when one went wrong; the rest is not
  // started then.
  void run(const Grid& grid);

 private:
  struct Job;
  WorkerPool() = default;
  void grow(int workers);
  void work(int id, std::uint64_t seen);

  std::mutex one_grid_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable begin_, end_;
  std::vector<std::thread> workers_;
  Job* job_ = nullptr;
  std::uint64_t generation_ = 0;
  int wanted_ = 0;
  int busy_ = 0;
  bool stop_ = false;
};

}  // namespace strop::device::host
