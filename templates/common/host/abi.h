#pragma once

// The only thing that a compiled kernel and the host device share: a context that the device fills in and a table of
// functions in it. Included by both sides, so it uses no header. A kernel's shared object needs no symbol of the
// process that loads it: the kernel is bound to the context, and everything else comes out of it. Any change here
// raises kVersion, which the device checks at load.

namespace strop::host {

constexpr unsigned kVersion = 1;

struct Index3 {
  unsigned x, y, z;
};

// Where in the template a thread stands; for reports.
struct Site {
  const char* file;
  int line;
};

enum class Vote : int { none, any, all, count };

// Operations deferred until the wait that covers them, a queue of groups for each thread.
enum class Queue : int { copy_async, wgmma, bulk_store };
constexpr int kQueues = 3;
constexpr unsigned kPayloadBytes = 64;  // most an asynchronous operation may carry

using CollectiveFn = void (*)(void** lanes, unsigned mask);  // lanes[i]: the pointer that lane i brought
using AsyncFn = void (*)(const void* payload);

// Those that take a site may end the block: by an exception that passes through the kernel's frames, which own nothing.
struct Functions {
  // Barrier 0 is __syncthreads (threads = 0: all of the block). Returns the vote's result.
  int (*barrier)(int id, int threads, Vote vote, int predicate, Site site);
  void (*barrier_arrive)(int id, int threads, Site site);
  // The lanes in `mask` meet; the last to come runs `fn` over what all brought. `synchronises`: memory written before
  // is seen after.
  void (*meet)(unsigned mask, void* mine, CollectiveFn fn, const char* what, bool synchronises, Site site);
  // Lets the other threads of the block go on: the body of every spin.
  void (*yield)(Site site);
  // Shared memory of the running block for a declaration, by the address of a constant that belongs to it.
  void* (*shared)(const void* key, unsigned long bytes);
  void (*async)(Queue queue, AsyncFn fn, const void* payload, unsigned bytes);
  void (*async_commit)(Queue queue);
  void (*async_wait)(Queue queue, int pending);
  // The block's copy engine: runs when a thread waits. `engine_step` is false when there was nothing to run.
  void (*engine)(AsyncFn fn, const void* payload, unsigned bytes);
  bool (*engine_step)();
  // Happens-before edges for the race checker, on an address.
  void (*acquire)(void* address);
  void (*release)(void* address);
  void (*fail)(const char* why, Site site);
};

// One for each thread of the operating system that runs blocks; `thread` and `number` follow the CUDA thread that is
// running.
struct Context {
  Index3 thread, block, block_size, grid_size;
  unsigned number;  // of the thread in its block, x fastest
  unsigned dynamic_bytes;
  void* dynamic_shared;
  const Functions* functions;
};

// What a shared object says of itself, by the function `<entry>_info`.
struct KernelInfo {
  unsigned version;
  unsigned threads;  // of the launch bounds
  unsigned min_blocks;
  unsigned args_bytes;
  bool address_sanitizer;
  bool thread_sanitizer;
  // Called on a thread of the operating system before its first block of a launch: where the kernel's words find the
  // context.
  void (*bind)(Context* context);
};

using EntryFn = void (*)(const void* args);
using InfoFn = void (*)(KernelInfo* info);

}  // namespace strop::host
