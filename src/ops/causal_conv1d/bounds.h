#pragma once

// cu_seqlens of packed sequences, looked at before anything is launched: from 0 to T, never decreasing.

#include <memory>

#include "src/ops/causal_conv1d/shape.h"
#include "strop/library.h"

namespace strop::ops {

class BoundsCheck {
 public:
  // `library` must outlive the check; a plan's kernels keep it alive.
  BoundsCheck(Library& library, const ConvShape& shape) : library_(&library), shape_(shape) {}

  // Throws Unsupported when it is missing, or given for a dense problem.
  void require_given(const void* device, const void* host) const;
  // Throws Unsupported with a sentence that names the entry. Reads `host`, or else reads `device` back, which waits for the stream and is
  // refused while it is captured. Nothing to do for dense problems.
  void check(const void* device, const void* host, Stream stream) const;

 private:
  Library* library_;
  ConvShape shape_;
};

}  // namespace strop::ops
