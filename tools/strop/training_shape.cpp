#include "tools/strop/training_shape.h"

#include <array>

#include "src/ops/op.h"

namespace strop::cli {
namespace {

std::optional<std::int64_t> number(const Key& key, std::string_view name) {
  const auto value = key.find(name);
  if (!value || !std::holds_alternative<std::int64_t>(*value)) return std::nullopt;
  return std::get<std::int64_t>(*value);
}

constexpr std::array<DType, 3> kFloatTypes{DType::fp32, DType::fp16, DType::bf16};

}  // namespace

std::optional<WarmupItem> item_of(const cache::EntryId& id) {
  const auto B = number(id.key, "B"), T = number(id.key, "T"), D = number(id.key, "D"), W = number(id.key, "W");
  if (!B || !T || !D || !W) return std::nullopt;
  // How an op writes its types into a key is its own affair: try them all, and take the shape that gives this very key.
  for (const auto* op : ops::all()) {
    for (const auto x_type : kFloatTypes) {
      for (const auto weight_type : kFloatTypes) {
        const ops::TrainingShape shape{*B, *T, *D, *W, x_type, weight_type};
        if (op->why_unsupported(shape)) continue;
        for (auto& item : op->items(shape)) {
          if (item.kernel->source.name == id.kernel && item.problem->key() == id.key) return std::move(item);
        }
      }
    }
  }
  return std::nullopt;
}

}  // namespace strop::cli
