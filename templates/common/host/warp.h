#pragma once

// Warp collectives: the lanes meet with a pointer to what they bring, the last one works for all. Masks are explicit;
// reading a lane outside the mask is reported.

#include "common/host/sync.h"

namespace strop::host {

inline unsigned lane() { return context->number & 31u; }

template <class T>
struct Shuffle {
  T in, out;
  unsigned source;

  STROP_UNTRACKED static void run(void** lanes, unsigned mask) {
    for (unsigned i = 0; i < 32; ++i) {
      if (!(mask >> i & 1u)) continue;
      Shuffle* mine = static_cast<Shuffle*>(lanes[i]);
      if (mask >> mine->source & 1u) {
        mine->out = static_cast<Shuffle*>(lanes[mine->source])->in;
      } else {
        mine->source = kOutside;
      }
    }
  }
  static constexpr unsigned kOutside = 32;
};

template <class T>
inline T shuffle(unsigned mask, T v, unsigned source, const char* what, Site site) {
  Shuffle<T> mine{v, v, source};
  context->functions->meet(mask, &mine, Shuffle<T>::run, what, false, site);
  if (mine.source == Shuffle<T>::kOutside) context->functions->fail("a shuffle reads a lane outside its mask", site);
  return mine.out;
}

struct Ballot {
  int predicate;
  unsigned result;

  STROP_UNTRACKED static void run(void** lanes, unsigned mask) {
    unsigned result = 0;
    for (unsigned i = 0; i < 32; ++i)
      if ((mask >> i & 1u) && static_cast<Ballot*>(lanes[i])->predicate) result |= 1u << i;
    for (unsigned i = 0; i < 32; ++i)
      if (mask >> i & 1u) static_cast<Ballot*>(lanes[i])->result = result;
  }
};

inline unsigned ballot(unsigned mask, int predicate, const char* what, Site site) {
  Ballot mine{predicate, 0};
  context->functions->meet(mask, &mine, Ballot::run, what, false, site);
  return mine.result;
}

// The first lane of the group of `width` that the calling lane is in.
inline unsigned group_start(int width) { return lane() & ~(static_cast<unsigned>(width) - 1u); }

}  // namespace strop::host

template <class T>
inline T __shfl_sync(unsigned mask, T v, int source, int width = 32, STROP_HERE) {
  const unsigned from =
      strop::host::group_start(width) + (static_cast<unsigned>(source) & (static_cast<unsigned>(width) - 1u));
  return strop::host::shuffle(mask, v, from, "__shfl_sync", {file, line});
}
template <class T>
inline T __shfl_xor_sync(unsigned mask, T v, int flip, int width = 32, STROP_HERE) {
  const unsigned lane = strop::host::lane();
  const unsigned from = lane ^ static_cast<unsigned>(flip);
  const bool inside = from < strop::host::group_start(width) + static_cast<unsigned>(width);
  return strop::host::shuffle(mask, v, inside ? from : lane, "__shfl_xor_sync", {file, line});
}
template <class T>
inline T __shfl_up_sync(unsigned mask, T v, unsigned delta, int width = 32, STROP_HERE) {
  const unsigned lane = strop::host::lane();
  const bool inside = lane >= strop::host::group_start(width) + delta;
  return strop::host::shuffle(mask, v, inside ? lane - delta : lane, "__shfl_up_sync", {file, line});
}
template <class T>
inline T __shfl_down_sync(unsigned mask, T v, unsigned delta, int width = 32, STROP_HERE) {
  const unsigned lane = strop::host::lane();
  const bool inside = lane + delta < strop::host::group_start(width) + static_cast<unsigned>(width);
  return strop::host::shuffle(mask, v, inside ? lane + delta : lane, "__shfl_down_sync", {file, line});
}
inline unsigned __ballot_sync(unsigned mask, int predicate, STROP_HERE) {
  return strop::host::ballot(mask, predicate, "__ballot_sync", {file, line});
}
inline int __any_sync(unsigned mask, int predicate, STROP_HERE) {
  return strop::host::ballot(mask, predicate, "__any_sync", {file, line}) != 0;
}
inline int __all_sync(unsigned mask, int predicate, STROP_HERE) {
  return strop::host::ballot(mask, !predicate, "__all_sync", {file, line}) == 0;
}
inline void __syncwarp(unsigned mask = 0xffffffffu, STROP_HERE) {
  strop::host::context->functions->meet(mask, nullptr, nullptr, "__syncwarp", true, {file, line});
}
