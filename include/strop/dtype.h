#pragma once

// Element types of tensors, as stored in memory. Arithmetic is fp32 whatever the storage type.

#include <cstddef>
#include <optional>
#include <string_view>

namespace strop {

enum class DType : int { fp32 = 0, fp16 = 1, bf16 = 2, int32 = 3, int64 = 4 };

// Bytes of one element.
constexpr std::size_t size_of(DType t) {
  switch (t) {
    case DType::fp32:
    case DType::int32: return 4;
    case DType::fp16:
    case DType::bf16: return 2;
    case DType::int64: return 8;
  }
  return 0;
}

// "fp32", "fp16", "bf16", "int32", "int64".
std::string_view name(DType t);
std::optional<DType> parse_dtype(std::string_view text);

}  // namespace strop
