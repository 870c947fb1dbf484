#include "strop/dtype.h"

#include <array>

namespace strop {
namespace {
constexpr std::array<std::string_view, 5> kNames{"fp32", "fp16", "bf16", "int32", "int64"};
}

std::string_view name(DType t) {
  const auto at = static_cast<std::size_t>(t);
  return at < kNames.size() ? kNames[at] : "unknown";
}

std::optional<DType> parse_dtype(std::string_view text) {
  for (std::size_t i = 0; i < kNames.size(); ++i)
    if (kNames[i] == text) return static_cast<DType>(i);
  return std::nullopt;
}

}  // namespace strop
