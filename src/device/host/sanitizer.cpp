#include "src/device/host/sanitizer.h"

extern "C" {
[[gnu::weak]] void __sanitizer_start_switch_fiber(void** fake, const void* bottom, std::size_t bytes);
[[gnu::weak]] void __sanitizer_finish_switch_fiber(void* fake, const void** bottom, std::size_t* bytes);
[[gnu::weak]] void __asan_unpoison_memory_region(const volatile void* address, std::size_t bytes);
[[gnu::weak]] void* __tsan_get_current_fiber();
[[gnu::weak]] void* __tsan_create_fiber(unsigned flags);
[[gnu::weak]] void __tsan_destroy_fiber(void* fiber);
[[gnu::weak]] void __tsan_switch_to_fiber(void* fiber, unsigned flags);
[[gnu::weak]] void __tsan_acquire(void* address);
[[gnu::weak]] void __tsan_release(void* address);
}

namespace strop::device::host::sanitizer {
namespace {
constexpr unsigned kNoEdge = 1;  // a switch synchronises nothing
}

bool checks_addresses() { return __asan_unpoison_memory_region != nullptr; }
bool checks_threads() { return __tsan_create_fiber != nullptr; }

void start_switch(void** fake, const void* bottom, std::size_t bytes) {
  if (__sanitizer_start_switch_fiber) __sanitizer_start_switch_fiber(fake, bottom, bytes);
}
void finish_switch(void* fake) {
  if (__sanitizer_finish_switch_fiber) __sanitizer_finish_switch_fiber(fake, nullptr, nullptr);
}
void unpoison(const void* address, std::size_t bytes) {
  if (__asan_unpoison_memory_region) __asan_unpoison_memory_region(address, bytes);
}

void* current_identity() { return __tsan_get_current_fiber ? __tsan_get_current_fiber() : nullptr; }
void* create_identity() { return __tsan_create_fiber ? __tsan_create_fiber(kNoEdge) : nullptr; }
void destroy_identity(void* identity) {
  if (identity && __tsan_destroy_fiber) __tsan_destroy_fiber(identity);
}
void become(void* identity) {
  if (identity) __tsan_switch_to_fiber(identity, kNoEdge);
}
void acquire(void* address) {
  if (__tsan_acquire) __tsan_acquire(address);
}
void release(void* address) {
  if (__tsan_release) __tsan_release(address);
}

}  // namespace strop::device::host::sanitizer
