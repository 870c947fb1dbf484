#include "strop/kernel.h"

#include <bit>
#include <limits>

namespace strop {
namespace {

// A quiet NaN with a payload that no arithmetic makes.
constexpr std::uint64_t kUntouched = 0x7ff8'5757'a55a'0001;

}  // namespace

double untouched() { return std::bit_cast<double>(kUntouched); }
bool is_untouched(double value) { return std::bit_cast<std::uint64_t>(value) == kUntouched; }

Tolerance Tolerance::storage(DType type) {
  // One unit in the last place of the storage type (a value next to a rounding boundary may fall either way), and the error of a
  // handful of fp32 operations for values near zero.
  switch (type) {
    case DType::bf16: return {1e-6, 1.0 / 128, 0};
    case DType::fp16: return {1e-6, 1.0 / 1024, 0};
    case DType::fp32: return {2e-6, 1e-5, 0};
    default: return {};
  }
}

}  // namespace strop
