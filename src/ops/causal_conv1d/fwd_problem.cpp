#include <bit>

#include "src/ops/causal_conv1d/common_problem.h"
#include "src/ops/causal_conv1d/problems.h"
#include "src/ops/causal_conv1d/reference.h"

namespace strop::ops {

Key ConvFwdProblem::key() const { return conv_key(shape_, Direction::forward); }
Config ConvFwdProblem::constants() const { return conv_constants(shape_, Direction::forward); }
LaunchGeometry ConvFwdProblem::geometry(const Config& config) const { return conv_geometry(shape_, config, Direction::forward); }

std::vector<TensorSpec> ConvFwdProblem::tensors() const {
  auto residual = row_tensor("residual", shape_, shape_.residual, Role::input);
  if (!shape_.problem.residual) residual.elements = 0;
  return {row_tensor("x", shape_, shape_.x, Role::input), weight_tensor(shape_), bias_tensor(shape_), row_tensor("y", shape_, shape_.y, Role::output),
          residual, state_tensor("initial_state", shape_, shape_.initial, Role::input, shape_.problem.initial_state), bounds_tensor(shape_)};
}

ConvFwdArgs ConvFwdProblem::args(const Config& config, const CausalConv1dForward& t) const {
  const auto tiles = tiling(shape_, config, Direction::forward);
  ConvFwdArgs args{};
  args.x = t.x;
  args.weight = t.weight;
  args.bias = t.bias;
  args.residual = t.residual;
  args.y = t.y;
  args.T = shape_.problem.T;
  args.lanes_log2 = static_cast<std::uint32_t>(std::countr_zero(static_cast<std::uint64_t>(tiles.lanes)));
  args.blocks_d = divisor(tiles.blocks_d);
  args.blocks_t = divisor(tiles.blocks_t);
  args.x_strides = shape_.x;
  args.y_strides = shape_.y;
  args.weight_channel = shape_.weight_channel;
  args.weight_tap = shape_.weight_tap;
  args.residual_strides = shape_.residual;
  args.sequences = sequences_of(shape_);
  args.sequences.initial = t.initial_state;
  args.sequences.bounds = t.cu_seqlens;
  return args;
}

std::vector<std::byte> ConvFwdProblem::arguments(const Config& config, std::span<void* const> p) const {
  CausalConv1dForward tensors;
  tensors.x = p[0];
  tensors.weight = p[1];
  tensors.bias = p[2];
  tensors.y = p[3];
  tensors.residual = p[4];
  tensors.initial_state = p[5];
  tensors.cu_seqlens = p[6];
  return bytes_of_args(args(config, tensors));
}

void ConvFwdProblem::reference(const std::vector<std::vector<double>>& in, std::vector<std::vector<double>>& out) const {
  ConvInputs inputs;
  inputs.x = {in[0].data(), shape_.x};
  inputs.weight = in[1].data();
  if (shape_.problem.bias) inputs.bias = in[2].data();
  if (shape_.problem.residual) inputs.residual = {in[4].data(), shape_.residual};
  if (shape_.problem.initial_state) inputs.initial = in[5].data();
  inputs.bounds = in[6];
  reference_forward(shape_, inputs, out[3]);
}

std::unique_ptr<KernelProblem> ConvFwdProblem::check_problem() const { return std::make_unique<ConvFwdProblem>(small_shape(shape_, Direction::forward)); }

double ConvFwdProblem::bytes_moved() const {
  const auto& p = shape_.problem;
  return (p.residual ? 3.0 : 2.0) * static_cast<double>(p.B * p.T * p.D) * static_cast<double>(size_of(p.x_type));
}

}  // namespace strop::ops
