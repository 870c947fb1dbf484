// Shared memory and asynchronous operations of the running block, and the table of functions that kernels get.

#include <fmt/format.h>

#include <utility>

#include "src/device/host/block_internal.h"

namespace strop::device::host {
namespace {
constexpr std::size_t kStaticSharedLimit = std::size_t{48} * 1024;  // CUDA: more must be dynamic
}

void* Block::shared(const void* key, std::size_t bytes) {
  sanitizer::acquire(&shared_edge_);
  void* memory = shared_.find(key);
  if (memory) return memory;
  {
    Enter inside(*this);
    if (shared_.bytes() + bytes > kStaticSharedLimit)
      fail(
          [&] {
            return fmt::format("{} bytes of static shared memory, {} is the limit", shared_.bytes() + bytes,
                               kStaticSharedLimit);
          },
          {});
    if (shared_.bytes() + bytes + grid_.dynamic_shared > grid_.shared_limit)
      fail(
          [&] {
            return fmt::format("{} bytes of shared memory, {} is the limit",
                               shared_.bytes() + bytes + grid_.dynamic_shared, grid_.shared_limit);
          },
          {});
    memory = shared_.add(key, bytes);
    sanitizer::release(&shared_edge_);
  }
  sanitizer::acquire(&shared_edge_);
  return memory;
}

void Block::defer(abi::Queue queue, const Deferred& operation) {
  if (grid_.options.eager_copies) return operation.run(operation.payload);
  Enter inside(*this);
  threads_[context_.number].queues[static_cast<int>(queue)].push(operation);
}

void Block::close_group(abi::Queue queue) { threads_[context_.number].queues[static_cast<int>(queue)].close_group(); }

// The operations run as the thread that issued them: the race checker sees its reads and writes.
void Block::wait_groups(abi::Queue queue, int pending) {
  GroupQueue& operations = threads_[context_.number].queues[static_cast<int>(queue)];
  while (const Deferred* next = operations.due(pending)) {
    next->run(next->payload);
    operations.pop();
  }
}

void Block::give_engine(const Deferred& operation) {
  if (grid_.options.eager_copies) return operation.run(operation.payload);
  sanitizer::release(&engine_edge_);
  Enter inside(*this);
  engine_.push_back(operation);
}

bool Block::engine_step() {
  Deferred next;
  {
    Enter inside(*this);
    if (engine_.empty()) return false;
    std::size_t at = 0;
    if (grid_.options.order == Order::reverse) at = engine_.size() - 1;
    if (grid_.options.order == Order::random) at = random() % engine_.size();
    next = engine_[at];
    engine_.erase(engine_.begin() + static_cast<std::ptrdiff_t>(at));
    note_progress();
  }
  const int thread = running_->thread;
  sanitizer::become(engine_identity_);
  sanitizer::acquire(&engine_edge_);
  next.run(next.payload);
  become(thread);
  return true;
}

namespace {

Block& here() { return *Block::current(); }

const abi::Functions kFunctions = {
    .barrier = [](int id, int threads, abi::Vote vote, int predicate,
                  abi::Site site) { return here().barrier(id, threads, vote, predicate, site); },
    .barrier_arrive = [](int id, int threads, abi::Site site) { here().barrier_arrive(id, threads, site); },
    .meet = [](unsigned mask, void* mine, abi::CollectiveFn fn, const char* what, bool synchronises,
               abi::Site site) { here().meet(mask, mine, fn, what, synchronises, site); },
    .yield = [](abi::Site site) { here().yield(site); },
    .shared = [](const void* key, unsigned long bytes) { return here().shared(key, bytes); },
    .async = [](abi::Queue queue, abi::AsyncFn fn, const void* payload,
                unsigned bytes) { here().defer(queue, Deferred(fn, payload, bytes)); },
    .async_commit = [](abi::Queue queue) { here().close_group(queue); },
    .async_wait = [](abi::Queue queue, int pending) { here().wait_groups(queue, pending); },
    .engine = [](abi::AsyncFn fn, const void* payload,
                 unsigned bytes) { here().give_engine(Deferred(fn, payload, bytes)); },
    .engine_step = [] { return here().engine_step(); },
    .acquire = [](void* address) { sanitizer::acquire(address); },
    .release = [](void* address) { sanitizer::release(address); },
    .fail = [](const char* why, abi::Site site) { here().fail(why, site); },
};

}  // namespace

const abi::Functions& kernel_functions() { return kFunctions; }

}  // namespace strop::device::host
