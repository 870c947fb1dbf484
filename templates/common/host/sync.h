#pragma once

// Barriers, dependent launches and traps. The twin of common/cuda/sync.cuh, and __syncthreads with its votes. Each
// takes the place of its call by default arguments, for the reports.

#include "common/host/words.h"
#include "common/scalars.cuh"

#define STROP_HERE const char *file = __builtin_FILE(), int line = __builtin_LINE()

inline void __syncthreads(STROP_HERE) {
  strop::host::context->functions->barrier(0, 0, strop::host::Vote::none, 0, {file, line});
}
inline int __syncthreads_or(int predicate, STROP_HERE) {
  return strop::host::context->functions->barrier(0, 0, strop::host::Vote::any, predicate, {file, line});
}
inline int __syncthreads_and(int predicate, STROP_HERE) {
  return strop::host::context->functions->barrier(0, 0, strop::host::Vote::all, predicate, {file, line});
}
inline int __syncthreads_count(int predicate, STROP_HERE) {
  return strop::host::context->functions->barrier(0, 0, strop::host::Vote::count, predicate, {file, line});
}
inline void __nanosleep(unsigned, STROP_HERE) { strop::host::context->functions->yield({file, line}); }
inline void __trap(STROP_HERE) { strop::host::context->functions->fail("trap", {file, line}); }

namespace strop {

inline void named_barrier_sync(int id, int threads, STROP_HERE) {
  host::context->functions->barrier(id, threads, host::Vote::none, 0, {file, line});
}
inline void named_barrier_arrive(int id, int threads, STROP_HERE) {
  host::context->functions->barrier_arrive(id, threads, {file, line});
}

// Launches run one after another here.
inline void grid_dependency_wait() {}
inline void grid_dependency_trigger() {}

inline void trap(const char* why, STROP_HERE) { host::context->functions->fail(why, {file, line}); }

}  // namespace strop
