#include "src/ops/causal_conv1d/common_problem.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace strop::ops {
namespace {

// Rows of a check.
constexpr std::int64_t kCheckRows = 5 * kUnitRows;
// Elements of a check's x, where the channels are many; two pieces of two sequences come first. The reference costs some tens of
// nanoseconds an element.
constexpr std::int64_t kCheckElements = 1 << 20;
constexpr std::int64_t kCheckSequences = 41;  // more than a warp's search takes in one round

// The stride class: what the keys of equal (B,T,D,W) may differ in.
std::string_view layout_word(const ConvShape& s, Direction direction) {
  const bool backward = direction == Direction::backward;
  const auto& p = s.problem;
  const auto dense = [&](const RowStrides& t) { return t.channel == 1 && t.row == p.D && (p.B <= 1 || t.sequence == p.T * p.D); };
  const bool all_dense = dense(s.x) && (backward ? dense(s.dy) && dense(s.dx) : dense(s.y) && (!p.residual || dense(s.residual)));
  return all_dense ? "dense" : "strided";
}

}  // namespace

Key conv_key(const ConvShape& s, Direction direction) {
  const auto& p = s.problem;
  Key key;
  key.add("B", p.B).add("T", p.T).add("D", p.D).add("W", p.W);
  key.add("dtype", name(p.x_type)).add("wdtype", name(p.weight_type));
  key.add("act", p.activation == Activation::silu ? "silu" : "none").add("bias", p.bias ? "yes" : "no");
  key.add("layout", layout_word(s, direction)).add("vec", fmt::format("v{}", s.max_vec(direction)));
  key.add("taps", s.packed_taps() ? "packed" : "strided");
  add_sequence_classes(s, key);
  if (direction == Direction::forward && p.residual) key.add("residual", "yes");
  return key;
}

void add_sequence_classes(const ConvShape& s, Key& key) {
  if (s.packed()) key.add("seqs", fmt::format("packed-{}", name(s.problem.cu_seqlens_type)));
  if (s.problem.initial_state) key.add("initial", "yes");
}

void add_sequence_constants(const ConvShape& s, Config& constants) {
  constants.set("packed", !s.packed() ? 0 : s.problem.cu_seqlens_type == DType::int32 ? 1 : 2);
  constants.set("initial", s.problem.initial_state ? 1 : 0);
}

Config conv_constants(const ConvShape& s, Direction direction) {
  const auto& p = s.problem;
  Config constants{
          {"D", p.D},
          {"W", p.W},
          {"x_type", static_cast<int>(p.x_type)},
          {"weight_type", static_cast<int>(p.weight_type)},
          {"silu", p.activation == Activation::silu ? 1 : 0},
          {"bias", p.bias ? 1 : 0},
          {"dense", layout_word(s, direction) == "dense" ? 1 : 0},
          {"whole_blocks", s.whole_blocks(direction) ? 1 : 0},
          {"max_vec", s.max_vec(direction)},
          {"packed_taps", s.packed_taps() ? 1 : 0}};
  add_sequence_constants(s, constants);
  if (direction == Direction::forward) {
    constants.set("residual", p.residual ? 1 : 0);
  } else {
    constants.set("level", s.level);
    constants.set("paired", s.paired ? 1 : 0);
  }
  return constants;
}

std::int64_t backward_lanes(const Config& config, std::int64_t level) {
  const auto strips = config.at("staging") == kTile ? (kUnitRows << level) / kSegmentRows : config.at("strips");
  return config.at("threads") / strips;
}

int backward_shared(const Config& c, const Config& k) {
  const int type = static_cast<int>(size_of(static_cast<DType>(k["x_type"])));
  const int rows = static_cast<int>(kUnitRows) << k["level"];
  if (c["staging"] == kTile) return (2 * rows + 3 * (k["W"] - 1)) * static_cast<int>(backward_lanes(c, k["level"])) * c["vec"] * type;
  const int sums = (k["W"] + k["bias"]) * c["vec"] * c["threads"] * 4;
  int slots = 0;
  for (int segments = rows / c["strips"] / static_cast<int>(kSegmentRows); segments > 1; segments /= 2) slots += sums;
  constexpr int kStages = 3;
  const int group = k["W"] <= 4 ? 4 : 8;
  const int ring = c["staging"] == kRing ? kStages * 2 * group * c["threads"] * c["vec"] * type : 0;
  return std::max(slots + ring, sums);
}

Tiling tiling(const ConvShape& s, const Config& config, Direction direction) {
  Tiling tiling;
  const std::int64_t threads = config.at("threads");
  if (direction == Direction::forward) {
    tiling.lanes = config.at("lanes");
    tiling.rows = config.at("rows");
  } else {
    tiling.lanes = backward_lanes(config, s.level);
    tiling.rows = s.piece_rows() / (threads / tiling.lanes);
  }
  const std::int64_t channels = tiling.lanes * config.at("vec");
  const std::int64_t block_rows = threads / tiling.lanes * tiling.rows;
  tiling.blocks_d = (s.problem.D + channels - 1) / channels;
  tiling.blocks_t = (s.problem.T + block_rows - 1) / block_rows;
  return tiling;
}

LaunchGeometry conv_geometry(const ConvShape& s, const Config& config, Direction direction) {
  const auto t = tiling(s, config, direction);
  LaunchGeometry geometry;
  geometry.grid.x = static_cast<unsigned>(t.blocks_d * (direction == Direction::backward ? s.partials() : t.blocks_t * s.problem.B));
  geometry.block.x = static_cast<unsigned>(config.at("threads"));
  if (direction == Direction::backward) geometry.dynamic_shared = static_cast<unsigned>(backward_shared(config, conv_constants(s, direction)));
  return geometry;
}

ConvShape small_shape(const ConvShape& shape, Direction direction) {
  ConvShape small = shape;
  auto& p = small.problem;
  // Of the backward at least two pieces, where T has them: what a piece takes from the next, and the second of a pair.
  const bool backward = direction == Direction::backward;
  const std::int64_t piece = backward ? shape.piece_rows() : kUnitRows;
  const std::int64_t affordable = kCheckElements / std::max<std::int64_t>(p.D, 1) / 2;
  const std::int64_t rows = std::max(std::min(kCheckRows, affordable) / piece, std::int64_t{backward ? 2 : 1}) * piece;
  // A ragged end of 37 rows: neither a whole segment nor a single row.
  if (p.T > rows) p.T = shape.whole_blocks(direction) ? rows : rows - piece + 37;
  p.B = std::min<std::int64_t>(p.B, 2);
  p.packed_sequences = std::min<std::int64_t>(p.packed_sequences, kCheckSequences);
  const auto pack = [&](RowStrides& s) {
    // Rows keep their distance; sequences move together, at a multiple of 16 elements so that their alignment class stays.
    const auto one = (p.T - 1) * s.row + (p.D - 1) * s.channel + 1;
    if (s.sequence > one) s.sequence = s.sequence % 16 == 0 ? (one + 15) / 16 * 16 : one + (s.sequence - one) % 16;
  };
  for (auto* strides : {&small.x, &small.y, &small.dy, &small.dx, &small.residual}) pack(*strides);
  return small;
}

std::size_t misalignment(const ConvShape& shape, DType type) {
  return shape.problem.alignment >= 16 ? 0 : std::max(static_cast<std::size_t>(shape.problem.alignment), size_of(type));
}

TensorSpec row_tensor(const std::string& name, const ConvShape& shape, const RowStrides& strides, Role role) {
  TensorSpec spec;
  spec.name = name;
  spec.type = shape.problem.x_type;
  spec.elements = extent(shape.problem, strides);
  spec.role = role;
  spec.tolerance = Tolerance::storage(spec.type);
  spec.misalign = misalignment(shape, spec.type);
  return spec;
}

TensorSpec weight_tensor(const ConvShape& shape) {
  const auto& p = shape.problem;
  TensorSpec spec;
  spec.name = "weight";
  spec.type = p.weight_type;
  spec.elements = p.D == 0 ? 0 : 1 + (p.D - 1) * shape.weight_channel + (p.W - 1) * shape.weight_tap;
  spec.scale = 0.5;
  spec.misalign = misalignment(shape, spec.type);
  return spec;
}

TensorSpec state_tensor(const std::string& name, const ConvShape& shape, const StateStrides& strides, Role role, bool there) {
  TensorSpec spec;
  spec.name = name;
  spec.type = shape.problem.x_type;
  spec.elements = there ? state_extent(shape, strides) : 0;
  spec.role = role;
  spec.tolerance = Tolerance::storage(spec.type);
  return spec;
}

TensorSpec bounds_tensor(const ConvShape& shape) {
  TensorSpec spec;
  spec.name = "cu_seqlens";
  spec.type = shape.problem.cu_seqlens_type;
  if (!shape.packed()) return spec;
  const auto N = shape.problem.packed_sequences, T = shape.problem.T;
  // Every second sequence is short or empty; the others share the rest.
  constexpr std::array<std::int64_t, 6> kShort{1, 0, 2, 5, 0, 3};
  const std::int64_t long_ones = (N + 1) / 2;
  std::int64_t at = 0;
  spec.values.push_back(0);
  for (std::int64_t n = 0; n < N; ++n) {
    if (n % 2 == 1) at += kShort[static_cast<std::size_t>(n / 2 % 6)];
    else at += std::max<std::int64_t>(T / long_ones - 3, 0) + n % 3;
    at = n == N - 1 ? T : std::min(at, T);
    spec.values.push_back(static_cast<double>(at));
  }
  spec.elements = N + 1;
  return spec;
}

TensorSpec bias_tensor(const ConvShape& shape) {
  TensorSpec spec;
  spec.name = "bias";
  spec.type = shape.problem.weight_type;
  spec.elements = shape.problem.bias ? shape.problem.D : 0;
  spec.scale = 0.5;
  spec.misalign = misalignment(shape, spec.type);
  return spec;
}

}  // namespace strop::ops
