#pragma once

// Shared memory and entry points.

#include "common/host/words.h"

namespace strop::host {
constexpr bool kAddressSanitizer =
#if defined(__SANITIZE_ADDRESS__)
    true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
    true;
#else
    false;
#endif
#else
    false;
#endif
constexpr bool kThreadSanitizer =
#if defined(__SANITIZE_THREAD__)
    true;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
    true;
#else
    false;
#endif
#else
    false;
#endif
}  // namespace strop::host

// Heap blocks of the exact size, for the red zones of AddressSanitizer: it does not guard thread_local arrays.
#define STROP_SHARED(type, name, n)              \
  static const char strop_shared_key_##name = 0; \
  type(&name)[n] = *static_cast<type(*)[n]>(     \
      ::strop::host::context->functions->shared(&strop_shared_key_##name, sizeof(type) * (n)))
#define STROP_DYNAMIC_SHARED(type, name) type* name = static_cast<type*>(::strop::host::context->dynamic_shared)

#define STROP_ENTRY(entry, Args, threads_of_block, blocks_of_sm, fn)                                     \
  extern "C" __attribute__((visibility("default"))) void entry(const void* args) {                       \
    fn(*static_cast<const Args*>(args));                                                                 \
  }                                                                                                      \
  extern "C" __attribute__((visibility("default"))) void entry##_info(::strop::host::KernelInfo* info) { \
    *info = {::strop::host::kVersion,                                                                    \
             threads_of_block,                                                                           \
             blocks_of_sm,                                                                               \
             sizeof(Args),                                                                               \
             ::strop::host::kAddressSanitizer,                                                           \
             ::strop::host::kThreadSanitizer,                                                            \
             [](::strop::host::Context* context) { ::strop::host::context = context; }};                 \
  }
