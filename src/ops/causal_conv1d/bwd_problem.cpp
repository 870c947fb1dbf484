#include "src/ops/causal_conv1d/common_problem.h"
#include "src/ops/causal_conv1d/problems.h"
#include "src/ops/causal_conv1d/reference.h"

namespace strop::ops {

Key ConvBwdProblem::key() const { return conv_key(shape_, Direction::backward); }
Config ConvBwdProblem::constants() const { return conv_constants(shape_, Direction::backward); }
LaunchGeometry ConvBwdProblem::geometry(const Config& config) const { return conv_geometry(shape_, config, Direction::backward); }

std::vector<TensorSpec> ConvBwdProblem::tensors() const {
  TensorSpec partial;
  partial.name = "partial";
  partial.elements = shape_.partials() * shape_.sums() * shape_.problem.D;
  partial.role = Role::output;
  // 128 to 1024 fp32 products of numbers of size 1, 32 summed in order and those in a tree: some 1e-6 of their root sum of squares.
  partial.tolerance = {2e-4, 1e-4, 1e-5};
  return {row_tensor("x", shape_, shape_.x, Role::input),   weight_tensor(shape_), bias_tensor(shape_),
          row_tensor("dy", shape_, shape_.dy, Role::input), row_tensor("dx", shape_, shape_.dx, Role::output), partial,
          state_tensor("initial_state", shape_, shape_.initial, Role::input, shape_.problem.initial_state), bounds_tensor(shape_)};
}

ConvBwdArgs ConvBwdProblem::args(const Config& config, const CausalConv1dBackward& t) const {
  const auto tiles = tiling(shape_, config, Direction::backward);
  ConvBwdArgs args{};
  args.x = t.x;
  args.weight = t.weight;
  args.bias = t.bias;
  args.dy = t.dy;
  args.dx = t.dx;
  args.partial = static_cast<float*>(t.workspace);
  args.T = shape_.problem.T;
  args.blocks_d = divisor(tiles.blocks_d);
  args.blocks_t = divisor(tiles.blocks_t);
  args.partials = shape_.partials();
  args.pieces = shape_.pieces();
  args.x_strides = shape_.x;
  args.dy_strides = shape_.dy;
  args.dx_strides = shape_.dx;
  args.weight_channel = shape_.weight_channel;
  args.weight_tap = shape_.weight_tap;
  args.sequences = sequences_of(shape_);
  args.sequences.initial = t.initial_state;
  args.sequences.bounds = t.cu_seqlens;
  return args;
}

std::vector<std::byte> ConvBwdProblem::arguments(const Config& config, std::span<void* const> p) const {
  CausalConv1dBackward tensors;
  tensors.x = p[0];
  tensors.weight = p[1];
  tensors.bias = p[2];
  tensors.dy = p[3];
  tensors.dx = p[4];
  tensors.workspace = p[5];
  tensors.initial_state = p[6];
  tensors.cu_seqlens = p[7];
  return bytes_of_args(args(config, tensors));
}

void ConvBwdProblem::reference(const std::vector<std::vector<double>>& in, std::vector<std::vector<double>>& out) const {
  ConvInputs inputs;
  inputs.x = {in[0].data(), shape_.x};
  inputs.weight = in[1].data();
  if (shape_.problem.bias) inputs.bias = in[2].data();
  inputs.dy = {in[3].data(), shape_.dy};
  if (shape_.problem.initial_state) inputs.initial = in[6].data();
  inputs.bounds = in[7];
  reference_backward(shape_, inputs, out[4], out[5]);
}

std::unique_ptr<KernelProblem> ConvBwdProblem::check_problem() const { return std::make_unique<ConvBwdProblem>(small_shape(shape_, Direction::backward)); }

double ConvBwdProblem::bytes_moved() const {
  const auto& p = shape_.problem;
  const auto partials = 4.0 * static_cast<double>(shape_.partials() * shape_.sums() * p.D);
  return 3.0 * static_cast<double>(p.B * p.T * p.D) * static_cast<double>(size_of(p.x_type)) + partials;
}

}  // namespace strop::ops
