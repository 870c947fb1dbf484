#pragma once

// Compiles candidates ahead, in parallel, while others are being timed. Equal code is compiled once; binaries that the store has
// are not compiled at all. Jobs run in the order they were submitted. A failed compile is a value: the candidate's verdict.
// Destruction drops what has not begun and waits for what has. Thread-safe.

#include <condition_variable>
#include <deque>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "src/engine/parts.h"

namespace strop::engine {

struct Compiled {
  std::optional<cache::StoredBinary> binary;  // empty: it did not compile
  std::string error;                          // the first line that says why
  bool no_compiler = false;                   // says nothing about the candidate: there is no compiler, or it was not asked
  bool left_out = false;                      // nor does this: the compiler came to no end (killed, too long, a full disk)
  bool from_store = false;
  double compile_ms = 0;
};
using CompiledFuture = std::shared_future<std::shared_ptr<const Compiled>>;

class CompilePool {
 public:
  explicit CompilePool(Parts& parts);
  ~CompilePool();
  CompilePool(const CompilePool&) = delete;
  CompilePool& operator=(const CompilePool&) = delete;

  CompiledFuture submit(const Kernel& kernel, const Config& constants, const Config& config);
  // Jobs that have not begun are answered with an error.
  void cancel();
  int submitted() const;
  int finished() const;

 private:
  struct Job {
    const Kernel* kernel = nullptr;
    jit::CompileRequest request;
    std::string code;
    std::string ingredients;
    std::promise<std::shared_ptr<const Compiled>> promise;
  };
  void grow();
  void work();
  std::shared_ptr<const Compiled> run(const Job& job);

  Parts& parts_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::unique_ptr<Job>> queue_;
  std::map<std::string, CompiledFuture> known_;  // by code digest
  std::vector<std::thread> threads_;
  int submitted_ = 0;
  int finished_ = 0;
  bool stop_ = false;
};

// One request on this thread: for a candidate that was not submitted.
std::shared_ptr<const Compiled> compile_now(Parts& parts, const Kernel& kernel, const Config& constants, const Config& config);
// The same past the store: for a stored binary that does not load.
std::shared_ptr<const Compiled> compile_anew(Parts& parts, const Kernel& kernel, const Config& constants, const Config& config);

}  // namespace strop::engine
