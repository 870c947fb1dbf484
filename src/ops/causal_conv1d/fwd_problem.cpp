#include <bit>

#include "src/ops/causal_conv1d/common_problem.h"
#include "src/ops/causal_conv1d/problems.h"
#include "src/ops/causal_conv1d/reference.h"

namespace strop::ops {

Key ConvFwdProblem::key() const { return conv_key(shape_, Direction::forward); }
Config ConvFwdProblem::constants() const { return conv_constants(shape_, Direction::forward); }
LaunchGeometry ConvFwdProblem::geometry(const Config& config) const { return conv_geometry(shape_, config, Direction::forward); }

std::vector<TensorSpec> ConvFwdProblem::tensors() const {
  return {row_tensor("x", shape_, shape_.x, Role::input), weight_tensor(shape_), bias_tensor(shape_), row_tensor("y", shape_, shape_.y, Role::output)};
}

ConvFwdArgs ConvFwdProblem::args(const Config& config, const CausalConv1dForward& t) const {
  const auto tiles = tiling(shape_, config, Direction::forward);
  ConvFwdArgs args{};
  args.x = t.x;
  args.weight = t.weight;
  args.bias = t.bias;
  args.y = t.y;
  args.T = shape_.problem.T;
  args.lanes_log2 = static_cast<std::uint32_t>(std::countr_zero(static_cast<std::uint64_t>(tiles.lanes)));
  args.blocks_d = divisor(tiles.blocks_d);
  args.blocks_t = divisor(tiles.blocks_t);
  args.x_strides = shape_.x;
  args.y_strides = shape_.y;
  args.weight_channel = shape_.weight_channel;
  args.weight_tap = shape_.weight_tap;
  return args;
}

std::vector<std::byte> ConvFwdProblem::arguments(const Config& config, std::span<void* const> p) const {
  return bytes_of_args(args(config, {p[0], p[1], p[2], p[3]}));
}

void ConvFwdProblem::reference(const std::vector<std::vector<double>>& in, std::vector<std::vector<double>>& out) const {
  const ConvInputs inputs{{in[0].data(), shape_.x}, {nullptr, {}}, in[1].data(), shape_.problem.bias ? in[2].data() : nullptr};
  reference_forward(shape_, inputs, out[3]);
}

std::unique_ptr<KernelProblem> ConvFwdProblem::check_problem() const { return std::make_unique<ConvFwdProblem>(small_shape(shape_)); }

double ConvFwdProblem::bytes_moved() const {
  const auto& p = shape_.problem;
  return 2.0 * static_cast<double>(p.B * p.T * p.D) * static_cast<double>(size_of(p.x_type));
}

}  // namespace strop::ops
