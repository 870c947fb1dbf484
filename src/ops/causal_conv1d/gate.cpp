#include "src/ops/causal_conv1d/gate.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <limits>

#include <fmt/format.h>

#include "src/ops/causal_conv1d/shape.h"

namespace strop::ops {
namespace {

using Reason = std::optional<std::string>;

constexpr std::int64_t kMaxSequences = std::int64_t{1} << 20;  // a trial makes the bounds of as many
constexpr std::int64_t kMaxElements = std::int64_t{1} << 46;  // far past any memory; keeps products of strides in 64 bits

bool is_float(DType type) { return type == DType::fp32 || type == DType::fp16 || type == DType::bf16; }

Reason bad_size(const CausalConv1dProblem& p) {
  const std::pair<const char*, std::int64_t> sizes[] = {{"B", p.B}, {"T", p.T}, {"D", p.D}};
  for (const auto& [axis, size] : sizes) {
    if (size < 0) return fmt::format("causal_conv1d: {}={} is negative", axis, size);
    if (size > kMaxElements) return fmt::format("causal_conv1d: {}={} is larger than any memory", axis, size);
  }
  if (p.W < 1) return fmt::format("causal_conv1d: W={}: a convolution has at least one tap", p.W);
  if (p.W > kMaxTaps) return fmt::format("causal_conv1d: W={} is not supported: 1 to {} taps are", p.W, kMaxTaps);
  if (p.D > std::numeric_limits<std::int32_t>::max()) return fmt::format("causal_conv1d: D={} is more than 2^31-1 channels", p.D);
  // Of an empty problem too, since strides and states are made of the other sizes.
  const auto B = std::max<std::int64_t>(p.B, 1), T = std::max<std::int64_t>(p.T, 1), D = std::max<std::int64_t>(p.D, 1);
  if (T > kMaxElements / D || B > kMaxElements / (T * D))
    return fmt::format("causal_conv1d: B={} T={} D={} are more elements than any memory has", p.B, p.T, p.D);
  return {};
}

Reason bad_type(const CausalConv1dProblem& p) {
  if (!is_float(p.x_type)) return fmt::format("causal_conv1d: x of type {} is not supported: bf16, fp16 and fp32 are", name(p.x_type));
  if (!is_float(p.weight_type))
    return fmt::format("causal_conv1d: weight of type {} is not supported: fp32, bf16 and fp16 are", name(p.weight_type));
  if (p.activation != Activation::none && p.activation != Activation::silu)
    return fmt::format("causal_conv1d: activation {} is unknown: none and silu are supported", static_cast<int>(p.activation));
  if (p.alignment != 2 && p.alignment != 4 && p.alignment != 8 && p.alignment != 16)
    return fmt::format("causal_conv1d: alignment={} is not one of 2, 4, 8, 16", p.alignment);
  // The narrower of the two: a tensor of the other type may be aligned to its own elements all the same, which the launch sees.
  const auto size = static_cast<int>(std::min(size_of(p.x_type), size_of(p.weight_type)));
  if (p.alignment < size)
    return fmt::format("causal_conv1d: tensors aligned to {} bytes can't hold elements of {} bytes", p.alignment, size);
  return {};
}

struct Axis {
  const char* name;
  std::int64_t size, stride;
};

// The reach of all axes together stays in 64 bits, whatever each stride is.
Reason bad_reach(const char* tensor, std::initializer_list<Axis> axes) {
  std::int64_t reach = 0;
  for (const auto& [name, size, stride] : axes) {
    if (stride < 0) return fmt::format("causal_conv1d: {} has the negative stride {} along {}", tensor, stride, name);
    const auto steps = std::max<std::int64_t>(size - 1, 0);
    if (steps > 0 && stride > (kMaxElements - reach) / steps)
      return fmt::format("causal_conv1d: {} reaches past 2^46 elements with stride {} along {}", tensor, stride, name);
    if (stride > kMaxElements) return fmt::format("causal_conv1d: {} has the stride {} along {}", tensor, stride, name);
    reach += steps * stride;
  }
  return {};
}

Reason bad_strides(const char* tensor, const std::array<std::int64_t, 3>& strides, const CausalConv1dProblem& p) {
  return bad_reach(tensor, {{"B", p.B, strides[0]}, {"T", p.T, strides[1]}, {"D", p.D, strides[2]}});
}

// Two elements of an output in one place would be a race. Of axes as (stride, size), sorted by stride, each must step over all of
// those inside it.
bool steps_over(std::array<std::pair<std::int64_t, std::int64_t>, 3>& axes) {
  std::sort(axes.begin(), axes.end());
  std::int64_t inside = 1;
  for (const auto& [stride, size] : axes) {
    if (size <= 1) continue;
    if (stride < inside) return false;
    inside += stride * (size - 1);
  }
  return true;
}

Reason overlaps(const char* tensor, const RowStrides& s, const CausalConv1dProblem& p) {
  std::array<std::pair<std::int64_t, std::int64_t>, 3> axes{{{s.sequence, p.B}, {s.row, p.T}, {s.channel, p.D}}};
  if (steps_over(axes)) return {};
  return fmt::format("causal_conv1d: the output {} with strides {}, {}, {} overlaps itself: elements would be written twice", tensor, s.sequence,
                     s.row, s.channel);
}

Reason bad_sequences(const CausalConv1dProblem& p) {
  if (p.packed_sequences < 0) return fmt::format("causal_conv1d: packed_sequences={} is negative", p.packed_sequences);
  if (p.packed_sequences == 0) return {};
  if (p.B != 1)
    return fmt::format("causal_conv1d: packed sequences (cu_seqlens) need x of [1,T,D], B={} was given: lay the sequences one behind the other", p.B);
  if (p.packed_sequences > kMaxSequences)
    return fmt::format("causal_conv1d: packed_sequences={} is more than 2^20 in one call", p.packed_sequences);
  if (p.cu_seqlens_type != DType::int32 && p.cu_seqlens_type != DType::int64)
    return fmt::format("causal_conv1d: cu_seqlens of type {} is not supported: int32 and int64 are", name(p.cu_seqlens_type));
  if (p.cu_seqlens_type == DType::int32 && p.T > std::numeric_limits<std::int32_t>::max())
    return fmt::format("causal_conv1d: T={} does not fit in cu_seqlens of type int32: use int64", p.T);
  return {};
}

Reason bad_states(const CausalConv1dProblem& p) {
  const auto shape = make_shape(p);
  for (const auto& [tensor, strides] : {std::pair("initial_state", shape.initial), std::pair("final_state", shape.final)})
    if (auto reason = bad_reach(tensor, {{"N", shape.sequences(), strides.sequence}, {"D", p.D, strides.channel}, {"W", p.W, strides.slot}}))
      return reason;
  if (!p.final_state) return {};
  const auto& s = shape.final;
  std::array<std::pair<std::int64_t, std::int64_t>, 3> axes{{{s.sequence, shape.sequences()}, {s.channel, p.D}, {s.slot, p.W}}};
  if (steps_over(axes)) return {};
  return fmt::format("causal_conv1d: the output final_state with strides {}, {}, {} overlaps itself: elements would be written twice", s.sequence,
                     s.channel, s.slot);
}

Reason bad_layout(const CausalConv1dProblem& p) {
  for (const auto& [tensor, strides] :
       {std::pair("x", p.x_strides), std::pair("y", p.y_strides), std::pair("dy", p.dy_strides), std::pair("dx", p.dx_strides),
        std::pair("residual", p.residual_strides)})
    if (auto reason = bad_strides(tensor, strides, p)) return reason;
  if (auto reason = bad_reach("weight", {{"D", p.D, p.weight_strides[0]}, {"W", p.W, p.weight_strides[1]}})) return reason;
  if (p.dy_expanded && p.dy_strides != std::array<std::int64_t, 3>{})
    return "causal_conv1d: dy_expanded says that all strides of dy are 0, dy_strides says otherwise";
  const auto shape = make_shape(p);
  if (shape.empty()) return {};
  if (auto reason = overlaps("y", shape.y, p)) return reason;
  return overlaps("dx", shape.dx, p);
}

// Blocks lie on grid x, which is enough for any memory but not for every product of sizes.
Reason too_many_blocks(const CausalConv1dProblem& p) {
  constexpr std::int64_t kMaxBlocks = std::numeric_limits<std::int32_t>::max();
  const auto blocks_d = (p.D + 15) / 16;  // of the narrowest config
  const auto blocks_t = (p.T + 15) / 16;
  if (p.B == 0 || blocks_d == 0 || blocks_t == 0) return {};
  if (blocks_d > kMaxBlocks / blocks_t || p.B > kMaxBlocks / (blocks_t * blocks_d))
    return fmt::format("causal_conv1d: B={} T={} D={} needs more than 2^31-1 blocks", p.B, p.T, p.D);
  return {};
}

}  // namespace

std::optional<std::string> why_unsupported(const CausalConv1dProblem& problem) {
  for (const auto check : {bad_size, bad_type, bad_sequences, bad_layout, bad_states, too_many_blocks})
    if (auto reason = check(problem)) return reason;
  return {};
}

}  // namespace strop::ops
