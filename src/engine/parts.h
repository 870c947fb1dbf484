#pragma once

// What a library is made of, handed to the pieces of the engine: device, toolchain, store, and the counters that prove what was not
// done. Owned by the library; outlives everything that refers to it. The members are thread-safe on their own; `tuning` serialises
// measurements, since two timings at once on one device would disturb each other.

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "cache/store.h"
#include "jit/toolchain.h"
#include "src/device/device.h"
#include "strop/library.h"

namespace strop::engine {

struct Parts {
  std::unique_ptr<device::Device> device;
  std::unique_ptr<jit::Toolchain> toolchain;
  std::unique_ptr<cache::Store> store;
  int compile_threads = 1;
  std::mutex tuning;
  std::atomic<bool> sealed{false};

  std::atomic<std::int64_t> compiles{0};
  std::atomic<std::int64_t> timings{0};
  std::atomic<std::int64_t> lookups{0};
  std::atomic<std::int64_t> loads{0};
  std::atomic<bool> compiler_opened{false};

  // Modules by code and dynamic shared memory: keys that differ in lengths alone run one binary, loaded once.
  std::mutex loaded_mutex;
  std::map<std::string, std::shared_ptr<device::LoadedKernel>> loaded;

  bool host() const { return device->facts().kind == DeviceKind::host; }
  std::string target(const Kernel& kernel) const;
  // Environment of a timing made now. The compiler is "unknown" until something was compiled: a hit must not open it.
  cache::Environment environment();
  cache::EntryId entry_id(const Kernel& kernel, const KernelProblem& problem);
  jit::CompileRequest request(const Kernel& kernel, const Config& constants, const Config& config) const;
  // Throws NotReady when sealed; `what` is "compile" or "time".
  void require_unsealed(const std::string& what, const std::string& kernel, const std::string& key) const;
};

// What an open library is made of, for the command's benchmarks and reports.
Parts& parts_of(Library& library);

// Digest of template and space: the part of a winner's identity that a new build may change.
std::string template_digest(const Kernel& kernel, bool host);
std::string target_for(const Kernel& kernel, const std::string& arch);

}  // namespace strop::engine
