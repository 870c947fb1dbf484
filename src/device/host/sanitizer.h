#pragma once

// What the sanitizers must be told about fibers. The hooks are weak symbols: there when the process was linked with
// that sanitizer, null otherwise, so one build of the runtime serves a plain process and a checking one. Without a
// sanitizer every call is a test of one pointer.
//
// ThreadSanitizer: this folder is never instrumented itself (its bookkeeping crosses fibers), only kernels are. Every
// CUDA thread is a fiber of the checker on a stack of its own, a switch makes no happens-before edge; barriers do, by acquire and release on
// an address.

#include <cstddef>

namespace strop::device::host::sanitizer {

bool checks_addresses();
bool checks_threads();

// Around every switch of stacks. `fake` keeps what AddressSanitizer has for the stack that is left.
void start_switch(void** fake, const void* bottom, std::size_t bytes);
void finish_switch(void* fake);
// A stack that is given up or reused keeps poisoned frames otherwise.
void unpoison(const void* address, std::size_t bytes);

// Whose memory accesses the following are. Null without ThreadSanitizer.
void* current_identity();
void* create_identity();
void destroy_identity(void* identity);
void become(void* identity);
void acquire(void* address);
void release(void* address);

}  // namespace strop::device::host::sanitizer
