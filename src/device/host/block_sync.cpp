// Barriers and warp collectives of the running block.

#include <fmt/format.h>

#include <cstring>
#include <thread>

#include "src/device/host/block_internal.h"

namespace strop::device::host {
namespace {

bool same_place(const abi::Site& a, const abi::Site& b) {
  return a.line == b.line && (a.file == b.file || (a.file && b.file && std::strcmp(a.file, b.file) == 0));
}

std::string place(const abi::Site& site) { return fmt::format("{}:{}", site.file ? site.file : "?", site.line); }

}  // namespace

int Block::barrier(int id, int threads, abi::Vote vote, int predicate, abi::Site site) {
  if (id < 0 || id >= kBarriers) fail([&] { return fmt::format("there is no barrier {}", id); }, site);
  Barrier& barrier = barriers_[id];
  char* edge = &barrier.edges[barrier.generation & 1u];
  sanitizer::release(edge);
  int result = 0;
  {
    Enter inside(*this);
    join(barrier, id, threads, vote, predicate, site);
    const int wanted = threads ? threads : static_cast<int>(alive_);
    if (barrier.arrived == wanted) {
      open(barrier);
    } else {
      barrier.waiting.push_back(running_);
      block(id == 0 ? "__syncthreads" : "a named barrier", site);
    }
    result = barrier.result;
  }
  sanitizer::acquire(edge);
  return result;
}

void Block::barrier_arrive(int id, int threads, abi::Site site) {
  if (id <= 0 || id >= kBarriers) fail([&] { return fmt::format("there is no named barrier {}", id); }, site);
  Barrier& barrier = barriers_[id];
  sanitizer::release(&barrier.edges[barrier.generation & 1u]);
  Enter inside(*this);
  join(barrier, id, threads, abi::Vote::none, 0, site);
  if (barrier.arrived == threads) open(barrier);
}

// One more thread at the barrier; says what a GPU would leave undefined.
void Block::join(Barrier& barrier, int id, int threads, abi::Vote vote, int predicate, abi::Site site) {
  if (id != 0 && (threads <= 0 || threads % 32 != 0 || threads > static_cast<int>((count_ + 31) / 32 * 32)))
    fail([&] { return fmt::format("named barrier {} for {} threads: not whole warps of the block", id, threads); },
         site);
  if (id == 0 && alive_ != count_) fail("__syncthreads after some threads of the block returned", site);
  if (barrier.arrived == 0) {
    barrier.threads = threads;
    barrier.vote = vote;
    barrier.site = site;
    barrier.gathered = vote == abi::Vote::all ? 1 : 0;
  } else if (id == 0 && (!same_place(barrier.site, site) || barrier.vote != vote)) {
    fail([&] { return fmt::format("divergent __syncthreads: some threads are at {}, others", place(barrier.site)); },
         site);
  } else if (barrier.threads != threads) {
    fail(
        [&] {
          return fmt::format("named barrier {}: {} threads at {}, but {}", id, barrier.threads, place(barrier.site),
                             threads);
        },
        site);
  }
  ++barrier.arrived;
  const int holds = predicate != 0;
  if (vote == abi::Vote::any) barrier.gathered |= holds;
  if (vote == abi::Vote::all) barrier.gathered &= holds;
  if (vote == abi::Vote::count) barrier.gathered += holds;
}

void Block::open(Barrier& barrier) {
  barrier.result = barrier.gathered;
  barrier.arrived = 0;
  ++barrier.generation;
  for (Strand* strand : barrier.waiting) release(strand);
  barrier.waiting.clear();
}

// A thread returned. CUDA lets the rest pass a barrier without it on some chips and hangs on others.
void Block::check_return() {
  if (barriers_[0].arrived) fail("a thread returned while others wait at __syncthreads", barriers_[0].site);
}

// The one under way with this mask, else a free place.
Block::Meeting& Block::meeting_of(unsigned warp, unsigned mask) {
  Meeting* const places = &meetings_[std::size_t{warp} * 32];
  if (meetings_open_[warp] == 0) return places[0];
  Meeting* free_place = nullptr;
  for (unsigned i = 0; i < 32; ++i) {
    if (places[i].arrived && places[i].mask == mask) return places[i];
    if (!places[i].arrived && !free_place) free_place = &places[i];
  }
  return *free_place;  // a lane waits in one at most, so 32 places never run out
}

void Block::join_meeting(Meeting& meeting, unsigned mask, const char* what, abi::Site site) {
  if (!meeting.arrived) {
    meeting.mask = mask;
    meeting.what = what;
    meeting.site = site;
    return;
  }
  if (std::strcmp(meeting.what, what) == 0 && same_place(meeting.site, site)) return;
  fail(
      [&] {
        return fmt::format("{}: lanes of a warp are in different collectives: others in {} at {}, this one", what,
                           meeting.what, place(meeting.site));
      },
      site);
}

void Block::meet(unsigned mask, void* mine, abi::CollectiveFn fn, const char* what, bool synchronises, abi::Site site) {
  const unsigned thread = static_cast<unsigned>(running_->thread), lane = thread & 31u, first = thread & ~31u;
  const unsigned exist = first + 32 <= count_ ? ~0u : (1u << (count_ - first)) - 1u;
  if (!(mask >> lane & 1u))
    fail([&] { return fmt::format("{}: the calling lane is not in its own mask {:#x}", what, mask); }, site);
  mask &= exist;
  Meeting& meeting = meeting_of(first / 32, mask);
  char* edge = &meeting.edges[meeting.generation & 1u];
  if (synchronises) sanitizer::release(edge);
  {
    Enter inside(*this);
    join_meeting(meeting, mask, what, site);
    if (!meeting.arrived) ++meetings_open_[first / 32];
    meeting.arrived |= 1u << lane;
    meeting.waiting[lane] = running_;
    meeting.brought[lane] = mine;
    if (meeting.arrived == mask) {
      if (fn) fn(meeting.brought, mask);
      meeting.arrived = 0;
      --meetings_open_[first / 32];
      ++meeting.generation;
      for (unsigned i = 0; i < 32; ++i)
        if ((mask >> i & 1u) && i != lane) release(meeting.waiting[i]);
    } else {
      block(what, site);
    }
  }
  if (synchronises) sanitizer::acquire(edge);
}

void Block::yield(abi::Site site) {
  constexpr unsigned kPatience = 10000;  // spins before looking at the clock
  Enter inside(*this);
  CudaThread& thread = threads_[static_cast<unsigned>(running_->thread)];
  thread.waits = "a spin";
  thread.site = site;
  if (++spins_ == 1) spinning_since_ = std::chrono::steady_clock::now();
  if (spins_ % kPatience == 0) {
    const std::chrono::duration<double> spinning = std::chrono::steady_clock::now() - spinning_since_;
    if (spinning.count() > grid_.options.livelock_seconds) fail("livelock: threads spin without progress", site);
  }
  Strand* to = nullptr;  // the one that waited longest whatever the order, or a spinning pair could starve the rest
  if (next_ < count_) {
    to = fresh_strand();
  } else if (!ready_.empty()) {
    to = ready_.front();
    ready_.pop_front();
  }
  if (to) {
    ready_.push_back(running_);
    switch_to(*to);
  } else {
    std::this_thread::yield();  // only another block can help
  }
  thread.waits = nullptr;
}

}  // namespace strop::device::host
