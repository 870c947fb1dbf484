#pragma once

// The block that a worker is running. CUDA threads run one after another on one fiber until one of them has to wait;
// only then does the next get a fiber of its own, so a kernel without barriers is a plain loop. Barriers, warp
// collectives and spins are switches.
//
// One instance a worker, used by that worker's thread only: the functions of the kernel's table find it by `current()`.
// A kernel that goes wrong (a trap, a deadlock, a barrier that not all reach) ends by leaving every fiber of the block
// where it stands, so `run` throws KernelFault with a report of where the threads wait, and the next block starts on
// new fibers.

#include <chrono>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "src/device/host/deferred.h"
#include "src/device/host/fiber.h"
#include "src/device/host/grid.h"
#include "src/device/host/shared_memory.h"

namespace strop::device::host {

class Block {
 public:
  Block();
  ~Block();
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  static Block* current();

  // One grid: prepare, any number of runs, finish. Prepare throws std::bad_alloc, run KernelFault.
  void prepare(const Grid& grid);
  void run(abi::Index3 index);
  void finish();

  // The functions of the kernel's table, see abi.h. Called on fibers.
  int barrier(int id, int threads, abi::Vote vote, int predicate, abi::Site site);
  void barrier_arrive(int id, int threads, abi::Site site);
  void meet(unsigned mask, void* mine, abi::CollectiveFn fn, const char* what, bool synchronises, abi::Site site);
  void yield(abi::Site site);
  void* shared(const void* key, std::size_t bytes);
  void defer(abi::Queue queue, const Deferred& operation);
  void close_group(abi::Queue queue);
  void wait_groups(abi::Queue queue, int pending);
  void give_engine(const Deferred& operation);
  bool engine_step();
  // Ends the block's run. `why` is text, or a function that makes it: its result is gone before the fiber is left for
  // good.
  [[noreturn]] void fail(const char* why, abi::Site site);
  template <class MakeText>
  [[noreturn]] void fail(const MakeText& why, abi::Site site);

 private:
  static constexpr int kBarriers = 16;
  static constexpr int kNobody = -1;

  // A fiber and the CUDA thread that is on it.
  struct Strand;
  struct CudaThread {
    abi::Index3 index{};
    const char* waits = nullptr;  // null: it can run
    abi::Site site{};
    bool started = false;
    bool returned = false;
    void* identity = nullptr;
    GroupQueue queues[abi::kQueues];
  };
  struct Barrier {
    int arrived = 0;
    int threads = 0;
    abi::Vote vote = abi::Vote::none;
    abi::Site site{};
    int gathered = 0;
    int result = 0;
    unsigned generation = 0;
    char edges[2] = {};  // addresses for the race checker, used in turn
    std::vector<Strand*> waiting;
  };
  // A warp collective under way. Parts of a warp may be in different ones, told apart by their masks.
  struct Meeting {
    unsigned mask = 0;
    unsigned arrived = 0;
    unsigned generation = 0;
    const char* what = nullptr;
    abi::Site site{};
    char edges[2] = {};
    Strand* waiting[32] = {};
    void* brought[32] = {};
  };
  // Inside the runtime memory is accessed as the worker, not as the CUDA thread: the race checker must see only
  // kernels.
  class Enter;

  void reset();
  void run_thread(unsigned number);
  void strand_main();
  bool may_start_here() const;
  static void strand_entry(void* block);
  void switch_to(Strand& to);
  Strand* fresh_strand();
  Strand* pick();
  void block(const char* what, abi::Site site);
  void release(Strand* strand);
  void open(Barrier& barrier);
  void join(Barrier& barrier, int id, int threads, abi::Vote vote, int predicate, abi::Site site);
  void check_return();
  Meeting& meeting_of(unsigned warp, unsigned mask);
  void join_meeting(Meeting& meeting, unsigned mask, const char* what, abi::Site site);
  void become(int thread);
  void set_context(unsigned thread);
  unsigned random();
  void note_fault(const std::string& why, abi::Site site);
  [[noreturn]] void leave();
  std::string report(const std::string& why, abi::Site site) const;
  void abandon();
  void drop_threads();
  void note_progress();

  Grid grid_;
  abi::Context context_{};
  unsigned count_ = 0;  // threads of a block
  unsigned next_ = 0;   // of order_: not yet started
  unsigned alive_ = 0;
  unsigned random_state_ = 1;
  unsigned spins_ = 0;
  std::chrono::steady_clock::time_point spinning_since_;
  std::vector<unsigned> order_;
  std::vector<CudaThread> threads_;
  std::vector<Meeting> meetings_;   // 32 places a warp: as many as can be under way at once
  std::vector<int> meetings_open_;  // a warp
  Barrier barriers_[kBarriers];
  std::vector<Deferred> engine_;
  SharedMemory shared_;
  void* dynamic_ = nullptr;

  std::unique_ptr<Strand> worker_;  // the worker's own stack
  Strand* running_ = nullptr;
  std::vector<std::unique_ptr<Strand>> strands_;
  std::vector<Strand*> idle_;
  std::vector<Strand*> own_strands_;  // a CUDA thread; empty without ThreadSanitizer
  std::deque<Strand*> ready_;
  std::string fault_;

  void* worker_identity_ = nullptr;
  void* engine_identity_ = nullptr;
  char start_edge_ = 0, end_edge_ = 0, shared_edge_ = 0, engine_edge_ = 0;
};

// The table that every kernel gets.
const abi::Functions& kernel_functions();

}  // namespace strop::device::host
