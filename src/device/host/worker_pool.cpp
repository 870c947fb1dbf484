#include "src/device/host/worker_pool.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <new>
#include <numeric>
#include <system_error>

#include "src/device/host/block.h"

namespace strop::device::host {
namespace {

// Every fiber is two mappings, and a process may have 65,530: bounds threads of a block times workers.
constexpr std::uint64_t kMostFibers = 4096;

__extension__ using Wide = unsigned __int128;

int workers_for(const Grid& grid, std::uint64_t blocks) {
  const std::uint64_t threads = std::uint64_t{grid.block.x} * grid.block.y * grid.block.z;
  const int cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  const std::uint64_t wanted = static_cast<std::uint64_t>(grid.options.workers > 0 ? grid.options.workers : cores);
  return static_cast<int>(std::max<std::uint64_t>(1, std::min({wanted, blocks, kMostFibers / threads})));
}

// All signals blocked while it lives, for the threads made meanwhile.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    for (int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP}) sigdelset(&all, signal);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

struct Known {
  std::mutex mutex;
  std::weak_ptr<WorkerPool> pool;
  std::shared_ptr<WorkerPool> kept;
};
// Never destroyed, and made anew in the child of a fork.
alignas(Known) std::array<std::byte, sizeof(Known)> g_known;
std::atomic<unsigned> g_forks{0};

Known& known_pool() {
  static Known* const one = new (&g_known) Known;
  return *one;
}

}  // namespace

// A grid under way: hands out blocks in the order asked for.
struct WorkerPool::Job {
  explicit Job(const Grid& launched) : grid(launched), blocks(std::uint64_t{grid.size.x} * grid.size.y * grid.size.z) {
    if (grid.options.order != Order::random) return;
    first = grid.options.seed % blocks;
    stride = std::max<std::uint64_t>(1, (blocks * 2 / 3) | 1);
    while (std::gcd(stride, blocks) != 1) stride += 2;
  }
  bool take(abi::Index3& index) {
    const std::uint64_t i = next.fetch_add(1, std::memory_order_relaxed);
    if (i >= blocks || failed.load(std::memory_order_relaxed)) return false;
    std::uint64_t b = i;
    if (grid.options.order == Order::reverse) b = blocks - 1 - i;
    if (grid.options.order == Order::random)
      b = static_cast<std::uint64_t>((static_cast<Wide>(i) * stride + first) % blocks);
    index = {static_cast<unsigned>(b % grid.size.x), static_cast<unsigned>(b / grid.size.x % grid.size.y),
             static_cast<unsigned>(b / grid.size.x / grid.size.y)};
    return true;
  }
  void fail(const std::string& why) {
    const std::lock_guard<std::mutex> lock(mutex);
    if (!failed.exchange(true)) fault = why;
  }
  void run_on(Block& block) {
    try {
      block.prepare(grid);
      for (abi::Index3 index{}; take(index);) block.run(index);
    } catch (const std::exception& error) {
      fail(error.what());
    }
    block.finish();
  }

  const Grid& grid;
  std::uint64_t blocks;
  std::uint64_t first = 0, stride = 1;
  std::atomic<std::uint64_t> next{0};
  std::atomic<bool> failed{false};
  std::mutex mutex;
  std::string fault;
};

std::shared_ptr<WorkerPool> WorkerPool::shared() {
  auto& known = known_pool();
  static const int at_fork = pthread_atfork(nullptr, nullptr, [] {
    ++g_forks;
    new (&g_known) Known;  // as it was it may be locked by a thread that is not there
  });
  if (at_fork != 0) throw Error("the host device can't be told of forks: no memory");
  const std::lock_guard<std::mutex> lock(known.mutex);
  std::shared_ptr<WorkerPool> pool = known.pool.lock();
  if (pool) return pool;
  // What the parent's devices hold can't be ended in a child: its threads are not there to be joined, its locks may be taken.
  pool = std::shared_ptr<WorkerPool>(new WorkerPool, [made = g_forks.load()](WorkerPool* one) {
    if (made == g_forks.load()) delete one;
  });
  known.pool = pool;
  if (g_forks.load() != 0) known.kept = pool;  // the devices hold the parent's
  return pool;
}

WorkerPool::~WorkerPool() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  begin_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void WorkerPool::run(const Grid& grid) {
  Job job(grid);
  const std::lock_guard<std::mutex> one(one_grid_);
  std::unique_lock<std::mutex> lock(mutex_);
  grow(workers_for(grid, job.blocks));
  job_ = &job;
  wanted_ = busy_ = std::min(workers_for(grid, job.blocks), static_cast<int>(workers_.size()));
  ++generation_;
  begin_.notify_all();
  end_.wait(lock, [this] { return busy_ == 0; });
  job_ = nullptr;
  if (job.failed) throw KernelFault(job.fault);
}

void WorkerPool::grow(int workers) {
  const SignalsBlocked blocked;
  while (static_cast<int>(workers_.size()) < workers) {
    const int id = static_cast<int>(workers_.size());
    try {
      workers_.emplace_back([this, id, seen = generation_] { work(id, seen); });
    } catch (const std::system_error& error) {
      if (workers_.empty()) throw Error(std::string("the host device cannot start a thread: ") + error.what());
      return;
    }
    pthread_setname_np(workers_.back().native_handle(), "strop-host");
  }
}

void WorkerPool::work(int id, std::uint64_t seen) {
  std::unique_ptr<Block> block;  // made with the first job, which is told when there is no memory for it
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    begin_.wait(lock, [&] { return stop_ || generation_ != seen; });
    if (stop_) return;
    seen = generation_;
    if (id >= wanted_) continue;
    Job* job = job_;
    lock.unlock();
    try {
      if (!block) block = std::make_unique<Block>();
      job->run_on(*block);
    } catch (const std::exception& error) {
      job->fail(error.what());
    }
    lock.lock();
    if (--busy_ == 0) end_.notify_all();
  }
}

}  // namespace strop::device::host
