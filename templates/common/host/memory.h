#pragma once

// The twin of common/cuda/memory.cuh: hints mean nothing here, alignment does. A misaligned word is reported like the
// chip reports it.

#include "common/host/sync.h"

namespace strop {
namespace host {
template <class Word>
inline void check_aligned(const Word* p, Site site) {
  if (reinterpret_cast<unsigned long>(p) % sizeof(Word) != 0)
    context->functions->fail("a load or store is misaligned", site);
}
}  // namespace host

template <Load H, class Word>
inline Word load_raw(const Word* p, STROP_HERE) {
  host::check_aligned(p, {file, line});
  return *p;
}
template <Load H, class Word>
inline Word load_raw_if(const Word* p, bool valid, STROP_HERE) {
  if (!valid) return Word{};
  host::check_aligned(p, {file, line});
  return *p;
}
template <Store H, class Word>
inline void store_raw(Word* p, Word v, STROP_HERE) {
  host::check_aligned(p, {file, line});
  *p = v;
}
template <Store H, class Word>
inline void store_raw_if(Word* p, Word v, bool valid, STROP_HERE) {
  if (valid) store_raw<H>(p, v, file, line);
}

}  // namespace strop
