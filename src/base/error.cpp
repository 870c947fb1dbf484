#include "strop/error.h"

#include <algorithm>
#include <array>

namespace strop {

bool CudaError::sticky() const {
  // CUresult values after which the context is lost: uncorrectable ECC and NVLink, a contained memory fault, illegal address,
  // launch timeout, assert, hardware stack, illegal instruction, misaligned address, invalid address space, invalid program
  // counter, launch failed (trap), and tensor memory left behind.
  constexpr std::array<int, 13> kLost{214, 220, 226, 700, 702, 710, 714, 715, 716, 717, 718, 719, 721};
  return std::find(kLost.begin(), kLost.end(), code_) != kLost.end();
}

}  // namespace strop
