#include "src/device/cuda/lost.h"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <thread>

#include "src/device/cuda/errors.h"
#include "strop/error.h"

namespace strop::device::cuda {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr auto kSpin = 2ms;  // most waits end within it, and sleeping costs more than they do

// A lost context is never released, so its address is never another's. One a GPU; more than fit would be marked as none.
std::array<std::atomic<CUcontext>, 64> g_lost{};
std::atomic<bool> g_any{false};

[[noreturn]] void throw_lost(const std::string& what) {
  throw CudaError(CUDA_ERROR_LAUNCH_TIMEOUT, "CUDA_ERROR_LAUNCH_TIMEOUT", "cuEventQuery", what);
}

}  // namespace

void mark_lost(CUcontext context) noexcept {
  for (auto& slot : g_lost) {
    CUcontext empty = nullptr;
    if (slot.compare_exchange_strong(empty, context) || empty == context) break;
  }
  g_any.store(true);
}

bool lost(CUcontext context) noexcept {
  if (!g_any.load(std::memory_order_relaxed)) [[likely]]
    return false;
  for (const auto& slot : g_lost)
    if (slot.load() == context) return context != nullptr;
  return false;
}

bool abandoned(CUcontext context) noexcept { return forked() || lost(context); }

void require_not_lost(CUcontext context) {
  if (lost(context)) [[unlikely]]
    throw_lost("a kernel on this device did not end; nothing more can be done there by this process, restart it");
}

void wait_for(const Driver& driver, CUcontext context, CUevent event, std::chrono::duration<double> limit) {
  const auto begin = Clock::now();
  for (;;) {
    const CUresult result = driver.cuEventQuery(event);
    if (result == CUDA_SUCCESS) return;
    if (result != CUDA_ERROR_NOT_READY) throw_error(result, "cuEventQuery");
    const auto waited = Clock::now() - begin;
    if (waited > limit) break;
    if (waited > kSpin) std::this_thread::sleep_for(50us);
  }
  mark_lost(context);
  throw_lost(fmt::format("a kernel did not end within {} s; the device is lost to this process, restart it", limit.count()));
}

}  // namespace strop::device::cuda
