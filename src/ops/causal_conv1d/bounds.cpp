#include "src/ops/causal_conv1d/bounds.h"

#include <cstring>
#include <vector>

#include <fmt/format.h>

#include "strop/error.h"

namespace strop::ops {
namespace {

[[noreturn]] void refuse(const std::string& why) { throw Unsupported("causal_conv1d: " + why); }

template <class Bound>
void check_bounds(const void* data, const ConvShape& shape) {
  const auto N = shape.problem.packed_sequences, T = shape.problem.T;
  const auto at = [data](std::int64_t n) {
    Bound bound;
    std::memcpy(&bound, static_cast<const std::byte*>(data) + static_cast<std::size_t>(n) * sizeof bound, sizeof bound);
    return static_cast<std::int64_t>(bound);
  };
  if (at(0) != 0) refuse(fmt::format("cu_seqlens[0] is {}, it must be 0", at(0)));
  for (std::int64_t n = 1; n <= N; ++n) {
    if (at(n) < at(n - 1)) refuse(fmt::format("cu_seqlens decreases from {} to {} at [{}]", at(n - 1), at(n), n));
    if (at(n) > T) refuse(fmt::format("cu_seqlens[{}] is {}, x has {} tokens", n, at(n), T));
  }
  if (at(N) != T) refuse(fmt::format("cu_seqlens ends at {}, x has {} tokens", at(N), T));
}

}  // namespace

void BoundsCheck::require_given(const void* device, const void* host) const {
  if (!shape_.packed() && (device != nullptr || host != nullptr)) [[unlikely]]
    refuse("cu_seqlens is given, the problem is not packed (packed_sequences is 0)");
  if (shape_.packed() && device == nullptr) [[unlikely]]
    refuse("cu_seqlens is null, the problem is packed");
}

void BoundsCheck::check(const void* device, const void* host, Stream stream) const {
  if (!shape_.packed()) return;
  std::vector<std::byte> copy;
  if (host == nullptr) {
    if (library_->capturing(stream))
      refuse("inside a stream capture cu_seqlens can't be read back: pass cu_seqlens_host too");
    copy.resize(static_cast<std::size_t>(shape_.problem.packed_sequences + 1) * size_of(shape_.problem.cu_seqlens_type));
    library_->synchronize(stream);
    library_->download(copy.data(), device, copy.size());
    host = copy.data();
  }
  if (shape_.problem.cu_seqlens_type == DType::int64) check_bounds<std::int64_t>(host, shape_);
  else check_bounds<std::int32_t>(host, shape_);
}

}  // namespace strop::ops
