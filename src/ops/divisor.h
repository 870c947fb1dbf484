#pragma once

// The host's twin of templates/common/divide.cuh: what a launch passes so that its blocks need no integer division.

#include <bit>
#include <cstdint>

namespace strop::ops {

struct Divisor {
  std::uint32_t value = 1, multiplier = 1, shift = 0;
};

// `value` is up to 2^31; an empty grid (0) is never launched, and divides as 1.
inline Divisor divisor(std::int64_t value) {
  Divisor by;
  by.value = value > 0 ? static_cast<std::uint32_t>(value) : 1;
  by.shift = static_cast<std::uint32_t>(std::bit_width(by.value - 1));  // the least with 2^shift >= value
  by.multiplier = static_cast<std::uint32_t>((((std::uint64_t{1} << by.shift) - by.value) << 32) / by.value + 1);
  return by;
}

}  // namespace strop::ops
