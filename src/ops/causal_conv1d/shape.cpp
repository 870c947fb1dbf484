#include "src/ops/causal_conv1d/shape.h"

#include <algorithm>

namespace strop::ops {
namespace {

RowStrides resolve(const std::array<std::int64_t, 3>& given, const CausalConv1dProblem& p) {
  if (given == std::array<std::int64_t, 3>{}) return {p.T * p.D, p.D, 1};
  return {given[0], given[1], given[2]};
}

StateStrides resolve_state(const std::array<std::int64_t, 3>& given, const CausalConv1dProblem& p) {
  if (given == std::array<std::int64_t, 3>{}) return {p.D * p.W, p.W, 1};
  return {given[0], given[1], given[2]};
}

// Vectors of `vec` elements start at multiples of `vec` elements in every row that exists.
bool allows(const RowStrides& s, const CausalConv1dProblem& p, std::int64_t vec) {
  return s.channel == 1 && (p.T <= 1 || s.row % vec == 0) && (p.B <= 1 || s.sequence % vec == 0);
}

// How dw is summed: bits of the number of x's elements at which it changes. Packed totals vary from step to step, and have few classes.
void set_sums(ConvShape& shape) {
  const auto& p = shape.problem;
  const auto at_least = [elements = p.B * p.T * p.D](int bits) { return elements >> bits > 0; };
  shape.paired = at_least(26);
  if (shape.paired) return;
  const int wanted = p.packed_sequences > 0 ? 1 : at_least(25) ? 3 : at_least(24) ? 2 : at_least(20) ? 1 : 0;
  // No longer than a sequence needs, and where a last piece leaves at most an eighth of the strips without rows.
  const auto suits = [&](int level) {
    const auto rows = kUnitRows << level, padded = (p.T + rows - 1) / rows * rows;
    return kUnitRows << (level - 1) < p.T && (p.packed_sequences > 0 || padded * 8 <= p.T * 9);
  };
  while (shape.level < wanted && suits(shape.level + 1)) ++shape.level;
}

}  // namespace

ConvShape make_shape(const CausalConv1dProblem& problem) {
  ConvShape shape;
  shape.problem = problem;
  shape.x = resolve(problem.x_strides, problem);
  shape.y = resolve(problem.y_strides, problem);
  shape.dy = problem.dy_expanded ? RowStrides{0, 0, 0} : resolve(problem.dy_strides, problem);
  shape.dx = resolve(problem.dx_strides, problem);
  shape.residual = resolve(problem.residual_strides, problem);
  shape.initial = resolve_state(problem.initial_state_strides, problem);
  shape.final = resolve_state(problem.final_state_strides, problem);
  shape.d_initial = resolve_state({}, problem);
  const bool dense = problem.weight_strides == std::array<std::int64_t, 2>{};
  shape.weight_channel = dense ? problem.W : problem.weight_strides[0];
  shape.weight_tap = dense ? 1 : problem.weight_strides[1];
  set_sums(shape);
  return shape;
}

int ConvShape::max_vec(Direction direction) const {
  const auto size = static_cast<std::int64_t>(size_of(problem.x_type));
  for (std::int64_t vec = 16 / size; vec > 1; vec /= 2) {
    if (problem.D % vec != 0 || problem.alignment % (vec * size) != 0 || !allows(x, problem, vec)) continue;
    const bool others = direction == Direction::forward ? allows(y, problem, vec) && (!problem.residual || allows(residual, problem, vec)) : allows(dy, problem, vec) && allows(dx, problem, vec);
    if (others) return static_cast<int>(vec);
  }
  return 1;
}

bool ConvShape::packed_taps() const {
  const auto bytes = problem.W * static_cast<std::int64_t>(size_of(problem.weight_type));
  const bool transactions = bytes == 2 || bytes == 4 || bytes == 8 || bytes % 16 == 0;
  return weight_tap == 1 && weight_channel == problem.W && transactions && problem.alignment % std::min<std::int64_t>(bytes, 16) == 0;
}

std::int64_t extent(const CausalConv1dProblem& p, const RowStrides& s) {
  if (p.B == 0 || p.T == 0 || p.D == 0) return 0;
  return 1 + (p.B - 1) * s.sequence + (p.T - 1) * s.row + (p.D - 1) * s.channel;
}

std::int64_t state_extent(const ConvShape& shape, const StateStrides& s) {
  const auto& p = shape.problem;
  if (shape.sequences() == 0 || p.D == 0) return 0;
  return 1 + (shape.sequences() - 1) * s.sequence + (p.D - 1) * s.channel + (p.W - 1) * s.slot;
}

ConvSequences sequences_of(const ConvShape& shape) {
  return {nullptr, nullptr, static_cast<std::uint32_t>(shape.problem.packed_sequences), shape.initial};
}

}  // namespace strop::ops
