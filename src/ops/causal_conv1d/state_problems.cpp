#include "src/ops/causal_conv1d/state_problems.h"

#include "src/ops/causal_conv1d/common_problem.h"
#include "src/ops/causal_conv1d/reference.h"

namespace strop::ops {
namespace {

Key base_key(const ConvShape& s) {
  const auto& p = s.problem;
  Key key;
  key.add("B", p.B).add("T", p.T).add("D", p.D).add("W", p.W).add("dtype", name(p.x_type));
  return key;
}

Config base_constants(const ConvShape& s) {
  Config constants{{"D", s.problem.D}, {"W", s.problem.W}, {"x_type", static_cast<int>(s.problem.x_type)}, {"threads", 256}};
  add_sequence_constants(s, constants);
  return constants;
}

std::uint32_t blocks_d(const ConvShape& s, const Config& config) {
  return static_cast<std::uint32_t>((s.problem.D + config.at("block") - 1) / config.at("block"));
}

LaunchGeometry geometry_of(const ConvShape& s, const Config& config) {
  LaunchGeometry geometry;
  geometry.grid.x = static_cast<unsigned>(blocks_d(s, config) * s.sequences());
  geometry.block.x = static_cast<unsigned>(config.at("block"));
  return geometry;
}

}  // namespace

Key ConvFinalStateProblem::key() const {
  auto key = base_key(shape_);
  add_sequence_classes(shape_, key);
  return key;
}
Config ConvFinalStateProblem::constants() const { return base_constants(shape_); }
LaunchGeometry ConvFinalStateProblem::geometry(const Config& config) const { return geometry_of(shape_, config); }

std::vector<TensorSpec> ConvFinalStateProblem::tensors() const {
  return {row_tensor("x", shape_, shape_.x, Role::input), state_tensor("final_state", shape_, shape_.final, Role::output, true),
          state_tensor("initial_state", shape_, shape_.initial, Role::input, shape_.problem.initial_state), bounds_tensor(shape_)};
}

ConvFinalStateArgs ConvFinalStateProblem::args(const Config& config, const CausalConv1dForward& t) const {
  ConvFinalStateArgs args{};
  args.x = t.x;
  args.final = t.final_state;
  args.T = shape_.problem.T;
  args.blocks_d = blocks_d(shape_, config);
  args.x_strides = shape_.x;
  args.final_strides = shape_.final;
  args.sequences = sequences_of(shape_);
  args.sequences.initial = t.initial_state;
  args.sequences.bounds = t.cu_seqlens;
  return args;
}

std::vector<std::byte> ConvFinalStateProblem::arguments(const Config& config, std::span<void* const> p) const {
  CausalConv1dForward tensors;
  tensors.x = p[0];
  tensors.final_state = p[1];
  tensors.initial_state = p[2];
  tensors.cu_seqlens = p[3];
  return bytes_of_args(args(config, tensors));
}

void ConvFinalStateProblem::reference(const std::vector<std::vector<double>>& in, std::vector<std::vector<double>>& out) const {
  ConvInputs inputs;
  inputs.x = {in[0].data(), shape_.x};
  if (shape_.problem.initial_state) inputs.initial = in[2].data();
  inputs.bounds = in[3];
  reference_final_state(shape_, inputs, out[1]);
}

std::unique_ptr<KernelProblem> ConvFinalStateProblem::check_problem() const {
  return std::make_unique<ConvFinalStateProblem>(small_shape(shape_, Direction::forward));
}

Key ConvStateBwdProblem::key() const {
  const auto& p = shape_.problem;
  auto key = base_key(shape_);
  key.add("wdtype", name(p.weight_type)).add("act", p.activation == Activation::silu ? "silu" : "none").add("bias", p.bias ? "yes" : "no");
  key.add("taps", shape_.packed_taps() ? "packed" : "strided");
  add_sequence_classes(shape_, key);
  return key;
}

Config ConvStateBwdProblem::constants() const {
  const auto& p = shape_.problem;
  auto constants = base_constants(shape_);
  constants.set("weight_type", static_cast<int>(p.weight_type));
  constants.set("silu", p.activation == Activation::silu ? 1 : 0);
  constants.set("bias", p.bias ? 1 : 0);
  constants.set("packed_taps", shape_.packed_taps() ? 1 : 0);
  return constants;
}

LaunchGeometry ConvStateBwdProblem::geometry(const Config& config) const { return geometry_of(shape_, config); }

std::vector<TensorSpec> ConvStateBwdProblem::tensors() const {
  return {row_tensor("x", shape_, shape_.x, Role::input),
          weight_tensor(shape_),
          bias_tensor(shape_),
          row_tensor("dy", shape_, shape_.dy, Role::input),
          state_tensor("d_final_state", shape_, shape_.final, Role::input, true),
          state_tensor("d_initial_state", shape_, shape_.d_initial, Role::output, shape_.problem.initial_state),
          row_tensor("dx", shape_, shape_.dx, Role::output),
          state_tensor("initial_state", shape_, shape_.initial, Role::input, shape_.problem.initial_state),
          bounds_tensor(shape_)};
}

ConvStateBwdArgs ConvStateBwdProblem::args(const Config& config, const CausalConv1dBackward& t) const {
  ConvStateBwdArgs args{};
  args.x = t.x;
  args.weight = t.weight;
  args.bias = t.bias;
  args.dy = t.dy;
  args.d_final = t.d_final_state;
  args.d_initial = t.d_initial_state;
  args.dx = t.dx;
  args.T = shape_.problem.T;
  args.blocks_d = blocks_d(shape_, config);
  args.x_strides = shape_.x;
  args.dy_strides = shape_.dy;
  args.dx_strides = shape_.dx;
  args.final_strides = shape_.final;
  args.d_initial_strides = shape_.d_initial;
  args.weight_channel = shape_.weight_channel;
  args.weight_tap = shape_.weight_tap;
  args.sequences = sequences_of(shape_);
  args.sequences.initial = t.initial_state;
  args.sequences.bounds = t.cu_seqlens;
  return args;
}

std::vector<std::byte> ConvStateBwdProblem::arguments(const Config& config, std::span<void* const> p) const {
  CausalConv1dBackward tensors;
  tensors.x = p[0];
  tensors.weight = p[1];
  tensors.bias = p[2];
  tensors.dy = p[3];
  tensors.d_final_state = p[4];
  tensors.d_initial_state = shape_.problem.initial_state ? p[5] : nullptr;
  tensors.dx = p[6];
  tensors.initial_state = p[7];
  tensors.cu_seqlens = p[8];
  return bytes_of_args(args(config, tensors));
}

void ConvStateBwdProblem::reference(const std::vector<std::vector<double>>& in, std::vector<std::vector<double>>& out) const {
  ConvInputs inputs;
  inputs.x = {in[0].data(), shape_.x};
  inputs.weight = in[1].data();
  if (shape_.problem.bias) inputs.bias = in[2].data();
  inputs.dy = {in[3].data(), shape_.dy};
  inputs.d_final = in[4].data();
  if (shape_.problem.initial_state) inputs.initial = in[7].data();
  inputs.bounds = in[8];
  reference_state_backward(shape_, inputs, out[6], out[5]);
}

std::unique_ptr<KernelProblem> ConvStateBwdProblem::check_problem() const {
  return std::make_unique<ConvStateBwdProblem>(small_shape(shape_, Direction::forward));
}

}  // namespace strop::ops
