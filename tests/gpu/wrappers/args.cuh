#pragma once

// What every conformance kernel takes: words in, words out. The host's twin is in wrapper_cases.h.

#include "common/types.cuh"

namespace strop::conformance {

struct Args {
  const u32* in;
  u32* out;
  u32 count;
};

}  // namespace strop::conformance
