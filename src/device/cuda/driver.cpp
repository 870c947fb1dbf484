#include "src/device/cuda/driver.h"

#include <fmt/format.h>
#include <pthread.h>

#include <atomic>

#include "src/base/settings.h"
#include "src/device/cuda/loader.h"
#include "strop/error.h"

namespace strop::device {
namespace cuda {
namespace {

std::atomic<bool> g_forked{false};

constexpr const char* kForkReason =
    "this process was forked after its parent had opened the CUDA driver, which does not survive a fork; start workers "
    "with spawn, or "
    "fork before the first use of CUDA";

struct Process {
  Opened opened = open_driver(settings::text("libcuda"));
  CudaProbe in_child;

  Process() {
    in_child = opened.probe;
    in_child.status = CudaStatus::failed;
    in_child.reason = kForkReason;
    in_child.devices = 0;
    // Without a driver a fork does no harm: the child may go on without one. A flag set by the fork itself costs the
    // launch path one load, where asking getpid would be a system call.
    if (opened.probe.status == CudaStatus::ok) {
      pthread_atfork(nullptr, nullptr, [] { g_forked.store(true, std::memory_order_relaxed); });
    }
  }
};

// Never destroyed: objects of the device may be released by other static destructors.
const Process& process() {
  static const Process* const one = new Process;
  return *one;
}

}  // namespace

bool forked() noexcept { return g_forked.load(std::memory_order_relaxed); }

const CudaProbe& probe() { return forked() ? process().in_child : process().opened.probe; }

const Driver& driver() {
  if (const CudaProbe& found = probe(); found.status != CudaStatus::ok) throw Error(found.reason);
  return process().opened.driver;
}

const Driver& opened() {
  if (forked()) throw Error(kForkReason);
  return process().opened.driver;
}

}  // namespace cuda

CudaProbe probe_cuda() { return cuda::probe(); }

}  // namespace strop::device
