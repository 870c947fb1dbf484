#include "src/device/host/block.h"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <exception>
#include <map>
#include <new>
#include <utility>

#include "src/device/host/block_internal.h"

namespace strop::device::host {
namespace {

// Kernels keep little on the stack; the sanitizer's frames are several times as large.
constexpr std::size_t kStackBytes = std::size_t{64} * 1024;
constexpr std::size_t kCheckedStackBytes = std::size_t{256} * 1024;
constexpr std::size_t kSharedAlign = 128;

thread_local Block* current_block = nullptr;

}  // namespace

Block::Block() : worker_(std::make_unique<Strand>(this)), running_(worker_.get()) {
  current_block = this;
  worker_identity_ = sanitizer::current_identity();
  engine_identity_ = sanitizer::create_identity();
  context_.functions = &kernel_functions();
}

Block::~Block() {
  drop_threads();
  sanitizer::destroy_identity(engine_identity_);
  std::free(dynamic_);
  current_block = nullptr;
}

Block* Block::current() { return current_block; }

void Block::prepare(const Grid& grid) {
  grid_ = grid;
  random_state_ = grid.options.seed * 2654435761u + 1u;
  const unsigned count = grid.block.x * grid.block.y * grid.block.z;
  count_ = count;
  if (threads_.size() < count) threads_.resize(count);
  const std::size_t warps = (count + 31) / 32;
  meetings_.assign(warps * 32, Meeting{});
  meetings_open_.assign(warps, 0);
  order_.resize(count);
  if (sanitizer::checks_threads() && own_strands_.size() < count) own_strands_.resize(count);
  for (unsigned i = 0; i < count; ++i) {
    threads_[i].index = {i % grid.block.x, i / grid.block.x % grid.block.y, i / grid.block.x / grid.block.y};
    if (!threads_[i].identity) threads_[i].identity = sanitizer::create_identity();
    order_[i] = grid.options.order == Order::reverse ? count - 1 - i : i;
  }
  grid.bind(&context_);
  context_.grid_size = grid.size;
  context_.block_size = grid.block;
  context_.dynamic_bytes = grid.dynamic_shared;
  if (grid.dynamic_shared && posix_memalign(&dynamic_, kSharedAlign, grid.dynamic_shared) != 0) throw std::bad_alloc();
  context_.dynamic_shared = dynamic_;
}

void Block::finish() {
  shared_.clear();
  std::free(dynamic_);
  dynamic_ = nullptr;
  context_.dynamic_shared = nullptr;
}

void Block::reset() {
  next_ = 0;
  alive_ = count_;
  spins_ = 0;
  fault_.clear();
  for (unsigned i = 0; i < count_; ++i) {
    CudaThread& thread = threads_[i];
    thread.waits = nullptr;
    thread.started = thread.returned = false;
    for (GroupQueue& queue : thread.queues) queue.reset();
  }
  for (Barrier& barrier : barriers_) {
    barrier.arrived = barrier.gathered = 0;
    barrier.waiting.clear();
  }
  for (Meeting& meeting : meetings_) meeting.mask = meeting.arrived = 0;
  meetings_open_.assign(meetings_open_.size(), 0);
  engine_.clear();
  shared_.poison();
  if (dynamic_) std::memset(dynamic_, 0xff, grid_.dynamic_shared);
  if (grid_.options.order == Order::random)
    for (unsigned i = count_; i > 1; --i) std::swap(order_[i - 1], order_[random() % i]);
}

void Block::run(abi::Index3 index) {
  context_.block = index;
  reset();
  sanitizer::release(&start_edge_);
  sanitizer::release(&engine_edge_);
  switch_to(*fresh_strand());
  sanitizer::acquire(&end_edge_);
  if (fault_.empty()) return;
  abandon();
  throw KernelFault(fault_);
}

void Block::strand_entry(void* block) { static_cast<Block*>(block)->strand_main(); }

// Runs CUDA threads until none is left to start, then waits for the next block.
void Block::strand_main() {
  for (;;) {
    while (next_ < count_ && may_start_here()) run_thread(order_[next_++]);
    Strand* to = worker_.get();
    if (next_ < count_) {
      to = fresh_strand();
    } else if (!ready_.empty()) {
      to = pick();
    } else if (alive_ != 0) {
      fail("deadlock: no thread of the block can go on", {});
    }
    if (own_strands_.empty()) idle_.push_back(running_);
    switch_to(*to);
  }
}

// To the race checker two threads on one stack would race for it.
bool Block::may_start_here() const { return own_strands_.empty() || own_strands_[order_[next_]] == running_; }

void Block::run_thread(unsigned number) {
  running_->thread = static_cast<int>(number);
  threads_[number].started = true;
  set_context(number);
  become(static_cast<int>(number));
  sanitizer::acquire(&start_edge_);
  bool completed = true;
  try {
    grid_.entry(grid_.arguments);
  } catch (const std::exception& error) {
    completed = false;
    note_fault(error.what(), {});
  }
  if (!completed) leave();
  sanitizer::release(&end_edge_);
  become(kNobody);
  threads_[number].returned = true;
  running_->thread = kNobody;
  --alive_;
  check_return();
}

void Block::switch_to(Strand& to) {
  Strand& from = *running_;
  if (&to == &from) return;
  running_ = &to;
  from.fiber.switch_to(to.fiber);
  if (from.thread != kNobody) set_context(static_cast<unsigned>(from.thread));
}

// One to start the next thread on.
Block::Strand* Block::fresh_strand() {
  Strand** const own = own_strands_.empty() ? nullptr : &own_strands_[order_[next_]];
  if (own && *own) return *own;
  if (!idle_.empty()) {
    Strand* strand = idle_.back();
    idle_.pop_back();
    return strand;
  }
  const std::size_t bytes = sanitizer::checks_addresses() ? kCheckedStackBytes : kStackBytes;
  strands_.push_back(std::make_unique<Strand>(bytes, this));
  if (own) *own = strands_.back().get();
  return strands_.back().get();
}

// What runs next when the running thread waits: one that was not yet started, or one that was released. Null: nothing
// can.
Block::Strand* Block::pick() {
  const bool released = !ready_.empty();
  const bool either = grid_.options.order == Order::random && released && (random() & 1u);
  if (next_ < count_ && !either) return fresh_strand();
  if (!released) return nullptr;
  if (grid_.options.order == Order::random) std::swap(ready_.front(), ready_[random() % ready_.size()]);
  Strand* strand = nullptr;
  if (grid_.options.order == Order::reverse) {
    strand = ready_.back();
    ready_.pop_back();
  } else {
    strand = ready_.front();
    ready_.pop_front();
  }
  return strand;
}

void Block::block(const char* what, abi::Site site) {
  CudaThread& thread = threads_[static_cast<unsigned>(running_->thread)];
  thread.waits = what;
  thread.site = site;
  Strand* to = pick();
  if (!to) fail("deadlock: every thread of the block waits", site);
  switch_to(*to);
}

void Block::release(Strand* strand) {
  threads_[static_cast<unsigned>(strand->thread)].waits = nullptr;
  ready_.push_back(strand);
  note_progress();
}

void Block::note_progress() { spins_ = 0; }

void Block::become(int thread) {
  sanitizer::become(thread == kNobody ? worker_identity_ : threads_[static_cast<unsigned>(thread)].identity);
}

void Block::set_context(unsigned thread) {
  context_.thread = threads_[thread].index;
  context_.number = thread;
}

unsigned Block::random() {
  random_state_ = random_state_ * 1664525u + 1013904223u;
  return random_state_ >> 8;
}

void Block::fail(const char* why, abi::Site site) {
  note_fault(why, site);
  leave();
}

void Block::note_fault(const std::string& why, abi::Site site) {
  become(kNobody);
  if (fault_.empty()) fault_ = report(why, site);
}

// Leaves the fiber for good: nothing on it owns anything.
void Block::leave() {
  running_->thread = kNobody;
  switch_to(*worker_);
  std::abort();  // nobody switches back to a strand that was given up
}

std::string Block::report(const std::string& why, abi::Site site) const {
  const abi::Index3 b = context_.block, t = context_.thread;
  std::string text = fmt::format("kernel {}: {}", grid_.kernel, why);
  if (site.file) text += fmt::format(" at {}:{}", site.file, site.line);
  text += fmt::format(" (block {},{},{}", b.x, b.y, b.z);
  if (running_->thread != kNobody) text += fmt::format(", thread {},{},{}", t.x, t.y, t.z);
  text += ")";
  std::map<std::string, int> places;
  for (unsigned i = 0; i < count_; ++i) {
    const CudaThread& thread = threads_[i];
    if (thread.returned) {
      ++places["returned"];
    } else if (thread.waits) {
      ++places[fmt::format("at {}, {}:{}", thread.waits, thread.site.file ? thread.site.file : "?", thread.site.line)];
    } else {
      ++places[thread.started ? "running" : "not started"];
    }
  }
  for (const auto& [place, threads] : places) text += fmt::format("\n  {} threads {}", threads, place);
  return text;
}

void Block::abandon() {
  strands_.clear();
  own_strands_.assign(own_strands_.size(), nullptr);
  idle_.clear();
  ready_.clear();
  drop_threads();
  threads_.resize(count_);
  for (unsigned i = 0; i < count_; ++i) {
    threads_[i].index = {i % grid_.block.x, i / grid_.block.x % grid_.block.y, i / grid_.block.x / grid_.block.y};
    threads_[i].identity = sanitizer::create_identity();
  }
}

void Block::drop_threads() {
  for (CudaThread& thread : threads_) sanitizer::destroy_identity(thread.identity);
  threads_.clear();
}

}  // namespace strop::device::host
