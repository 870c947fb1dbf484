#pragma once

// The library on one device: looks up, tunes, remembers, launches. Open it once per device and share it; every method may be
// called from many threads at once. Nothing of CUDA is touched before `open`, and NVRTC is opened only when something has to be
// compiled.
//
// Errors: `open` throws strop::Error when the asked-for device is not there (the sentence says what is missing). A damaged, locked,
// read-only or missing cache is one warning in the log and a correct result, never an exception.

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "strop/device_facts.h"
#include "strop/error.h"
#include "strop/kernel.h"
#include "strop/trial.h"

namespace strop {

// What a call does when its key has no winner.
enum class MissPolicy {
  tune,     // run the nearest tuned key's config if that runs the very same code (only lengths differ); else tune now (seconds, once)
  nearest,  // run the config of the nearest tuned key, else the default config; may compile, never times
  error,    // throw NotReady with the key
};

struct Options {
  std::string device = "auto";    // "auto" (CUDA if there is a usable GPU, else host), "cuda", "cuda:N", "host"
  std::string cache_path;         // database file or folder; empty: settings, then the rules of docs/settings.md; ":memory:" keeps nothing
  std::optional<MissPolicy> on_miss;  // empty: the setting STROP_ON_MISS, whose default is `tune`
  int compile_threads = 0;        // 0: one a core
};

enum class Outcome { tuned, hit, revalidated, failed };
std::string_view name(Outcome o);

// What became of one key in a warmup.
struct KeyReport {
  std::string kernel;
  Key key;
  Outcome outcome = Outcome::failed;
  int candidates = 0;             // legal candidates of the space (hit: as stored)
  int rejected = 0;               // of these, with a verdict other than ok
  std::vector<Trial> trials;      // of this run; empty for a hit
  std::optional<Config> winner;
  Measurement time;               // the winner's
  std::optional<Config> previous; // revalidated: the winner before
  double previous_us = 0;
  double elapsed_s = 0;
  std::string note;               // why it failed, or what is worth knowing (suspect, resumed, budget spent)
};

struct Report {
  std::vector<KeyReport> keys;
  double elapsed_s = 0;           // of the warmup call, the device being open
  int compiles = 0;               // calls of a compiler, cached binaries not among them
  int timings = 0;                // candidates timed
  std::string device;
  std::string cache_path;         // empty: memory only
};

// Thrown by warmup; carries what was achieved nevertheless.
class WarmupFailed : public Error {
 public:
  WarmupFailed(const std::string& what, Report report) : Error(what), report_(std::move(report)) {}
  const Report& report() const { return report_; }

 private:
  Report report_;
};

struct WarmupItem {
  const Kernel* kernel = nullptr;  // must outlive the call
  std::shared_ptr<const KernelProblem> problem;
};

struct Progress {
  int keys_done = 0, keys = 0;
  int compiled = 0, to_compile = 0;
  int judged = 0, to_judge = 0;
  std::string kernel;              // of the key being judged
  std::string key;
};

struct WarmupOptions {
  double budget_s = 0;             // 0: none. Past it, the key being tuned keeps its best so far (flagged "budget"), the rest fails
  // Called from the thread that called warmup, which must not call the library again. What it throws is one warning.
  std::function<void(const Progress&)> progress;
  bool revalidate_suspects = true; // re-time the stored best few of winners that a driver or compiler change made doubtful
};

// A kernel ready to be launched for one problem: binary loaded, config chosen. Immutable; launch from any thread on any stream.
class PreparedKernel {
 public:
  virtual ~PreparedKernel() = default;
  virtual const Config& config() const = 0;
  virtual const LaunchGeometry& geometry() const = 0;
  // Where the config came from: "winner", "nearest B=.. T=..", "default".
  virtual const std::string& origin() const = 0;
  // From when on `prepare` may have something better: a stand-in for a winner that could not be tuned at the time. Else never.
  virtual std::chrono::steady_clock::time_point good_until() const = 0;
  // Nothing but a launch. `arguments` is the kernel's args struct.
  virtual void launch(const void* arguments, std::size_t bytes, Stream stream) const = 0;
};

// Re-times the stored best few of winners, at most four candidates a key; see `Library::revalidate`.
struct RevalidateOptions {
  bool suspects_only = true;
  std::function<void(const Progress&)> progress;
};

struct Counters {
  std::int64_t compiles = 0, timings = 0, store_lookups = 0, loads = 0;
};

class Library {
 public:
  static std::shared_ptr<Library> open(const Options& options = {});
  virtual ~Library() = default;

  virtual const DeviceFacts& device() const = 0;
  virtual std::string cache_path() const = 0;  // empty: memory only

  // Tunes what is not known yet. Compiles ahead in parallel, times one at a time, stores every trial as it lands. Throws
  // WarmupFailed when it achieved nothing for some key; what was tuned stays tuned.
  virtual Report warmup(std::span<const WarmupItem> items, const WarmupOptions& options = {}) = 0;

  // Re-times the stored best few of each item's winner (suspect ones, or all) and stores what won; items without a winner are left
  // out of the report.
  virtual Report revalidate(std::span<const WarmupItem> items, const RevalidateOptions& options = {}) = 0;

  // The kernel for a problem: from the process's table, from the store, or by the miss policy. `on_miss` overrides the library's.
  // `stream` is the one it will be launched on: while it is capturing, nothing is compiled, loaded, allocated or timed, and what
  // is not loaded yet throws NotReady with the capture still valid.
  virtual std::shared_ptr<const PreparedKernel> prepare(const Kernel& kernel, const KernelProblem& problem,
                                                        Stream stream = nullptr,
                                                        std::optional<MissPolicy> on_miss = std::nullopt) = 0;

  // From now on a compile or a timing is an error (NotReady) that names the key.
  virtual void seal() = 0;
  virtual Counters counters() const = 0;

  // Grows whenever a kernel that was prepared might be prepared differently now (a warmup, a revalidation): who keeps prepared
  // kernels in a table of its own looks whether it moved. One relaxed load.
  virtual std::uint64_t generation() const = 0;

  // Device memory and copies, for examples and tests; a training job brings its own. The returned pointer keeps the library alive.
  virtual std::shared_ptr<void> allocate(std::size_t bytes) = 0;
  virtual void upload(void* device, const void* host, std::size_t bytes) = 0;
  virtual void download(void* host, const void* device, std::size_t bytes) = 0;
  virtual void synchronize(Stream stream = nullptr) = 0;
  virtual bool capturing(Stream stream) const = 0;

  // For ops: the place of the first pointer that a kernel here must not follow (a host's, another GPU's), or their number; null ones are
  // passed over. A launch on such memory would end the process's context. Some nanoseconds a pointer seen before.
  virtual std::size_t first_unreachable(std::span<const void* const> pointers) const = 0;
  virtual std::string describe_pointer(const void* pointer) const = 0;  // "memory of cuda:1"
};

// Compiles every legal candidate of the items for an architecture ("sm_90") on a machine that need not have a GPU, and puts the
// binaries into the cache, where a warmup on such a GPU finds them. `failed` names what did not compile.
struct CompileOnlyReport {
  std::string arch;
  std::string compiler;
  std::string cache_path;
  double elapsed_s = 0;
  int candidates = 0;  // legal ones of all items
  int compiles = 0;    // calls of the compiler; equal binaries are made once
  int cached = 0;      // found in the cache
  std::vector<std::string> failed;
};
CompileOnlyReport compile_only(std::span<const WarmupItem> items, const std::string& arch, const Options& options = {},
                               const std::function<void(const Progress&)>& progress = {});

}  // namespace strop
