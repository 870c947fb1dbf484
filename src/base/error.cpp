#include "strop/error.h"

#include <algorithm>
#include <array>

namespace strop {

bool CudaError::sticky() const {
  // CUresult values after which the context is lost: illegal address, launch timeout, hardware stack, illegal instruction,
  // misaligned address, invalid address space, invalid program counter, launch failed (trap), assert, and uncorrectable ECC.
  constexpr std::array<int, 10> kLost{214, 700, 702, 710, 714, 715, 716, 717, 718, 719};
  return std::find(kLost.begin(), kLost.end(), code_) != kLost.end();
}

}  // namespace strop
