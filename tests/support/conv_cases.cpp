#include "tests/support/conv_cases.h"

#include "src/ops/causal_conv1d/op.h"

namespace strop::test {
namespace {

CausalConv1dProblem make(std::int64_t B, std::int64_t T, std::int64_t D, std::int64_t W = 4) {
  return ops::conv_problem({B, T, D, W});
}

CausalConv1dProblem typed(CausalConv1dProblem problem, DType x, DType weight) {
  problem.x_type = x;
  problem.weight_type = weight;
  return problem;
}

void add_layouts(std::vector<ConvCase>& cases) {
  auto qkv = make(2, 130, 24);  // the middle third of fused rows
  qkv.x_strides = qkv.dy_strides = {130 * 72, 72, 1};
  cases.push_back({"rows_at_a_pitch_of_three_D", qkv});
  auto odd_pitch = make(2, 40, 16);
  odd_pitch.x_strides = odd_pitch.y_strides = odd_pitch.dy_strides = odd_pitch.dx_strides = {40 * 17, 17, 1};
  cases.push_back({"rows_at_a_pitch_of_D_plus_one", odd_pitch});
  auto channel_first = make(2, 37, 12);
  channel_first.x_strides = channel_first.dy_strides = channel_first.y_strides = channel_first.dx_strides = {37 * 12, 1, 37};
  cases.push_back({"channel_first_tensors", channel_first});
  auto offset = make(2, 33, 16);
  offset.alignment = 2;
  offset.weight_type = DType::bf16;
  cases.push_back({"tensors_at_an_odd_element", offset});
  auto expanded = make(2, 33, 16);
  expanded.dy_expanded = true;
  cases.push_back({"dy_is_one_expanded_element", expanded});
  auto steps = make(2, 20, 16);
  steps.dy_strides = {40 * 16, 2 * 16, 1};
  cases.push_back({"every_second_row_of_dy", steps});
  auto transposed = make(2, 20, 16);
  transposed.weight_strides = {1, 16};
  cases.push_back({"a_transposed_weight", transposed});
  auto wide = make(1, 40, 8);
  wide.x_strides = {0, 1000, 1};
  cases.push_back({"a_slice_of_very_wide_rows", wide});
}

void add_sizes(std::vector<ConvCase>& cases) {
  cases.push_back({"whole_units", make(2, 640, 64)});
  cases.push_back({"one_token", make(3, 1, 64)});
  cases.push_back({"fewer_tokens_than_taps", make(2, 2, 64)});
  cases.push_back({"as_many_tokens_as_taps", make(1, 4, 16)});
  cases.push_back({"a_ragged_end", make(2, 677, 64)});
  cases.push_back({"one_token_past_a_unit", make(1, 129, 32)});
  for (const std::int64_t D : {1, 3, 7, 9, 20}) cases.push_back({"channels_" + std::to_string(D), make(2, 67, D)});
  for (const std::int64_t W : {1, 2, 3, 5, 6, 7, 8}) cases.push_back({"taps_" + std::to_string(W), make(2, 150, 16, W)});
}

// Pieces of more than one unit, as larger problems have them, and pairs of pieces: whole ones, an odd number of them, one alone, and where
// rows are not aligned.
void add_pairs(std::vector<ConvCase>& cases) {
  cases.push_back({"pairs_of_whole_units", make(2, 640, 64), 0, true});
  cases.push_back({"pairs_of_an_odd_number_of_units", make(3, 300, 160), 0, true});
  cases.push_back({"pairs_of_one_unit", make(1, 20, 24), 0, true});
  cases.push_back({"pairs_of_channels_7", make(3, 131, 7), 0, true});
  auto wide = make(1, 700, 16, 8);
  wide.bias = true;
  cases.push_back({"pairs_of_taps_8_with_bias", wide, 0, true});
  cases.push_back({"twos_of_whole_units", make(2, 768, 64), 1});
  cases.push_back({"twos_of_an_odd_number_of_units", make(3, 300, 160), 1});
  cases.push_back({"twos_of_channels_7", make(3, 131, 7), 1});
  cases.push_back({"eights_of_whole_units", make(2, 2048, 32), 3});
  cases.push_back({"eights_of_a_ragged_end", make(2, 1333, 40), 3});
  cases.push_back({"eights_of_channels_7", make(1, 1100, 7), 3});
  wide.T = 1500;
  cases.push_back({"eights_of_taps_8_with_bias", wide, 3});
  cases.push_back({"fours_of_whole_units", make(1, 1024, 64), 2});
  cases.push_back({"fours_of_a_ragged_end", make(2, 700, 96), 2});
}

CausalConv1dProblem packed(CausalConv1dProblem problem, std::int64_t sequences, DType bounds = DType::int32) {
  problem.packed_sequences = sequences;
  problem.cu_seqlens_type = bounds;
  return problem;
}

CausalConv1dProblem with_states(CausalConv1dProblem problem) {
  problem.initial_state = problem.final_state = true;
  return problem;
}

// Packed sequences and states, alone and together with what the code treats apart.
void add_sequences(std::vector<ConvCase>& cases) {
  cases.push_back({"packed_whole_units", packed(make(1, 640, 64), 9)});
  cases.push_back({"packed_ragged", packed(make(1, 677, 48), 40, DType::int64)});
  cases.push_back({"packed_one_sequence", packed(make(1, 300, 16), 1)});
  cases.push_back({"packed_short_ones_only", packed(make(1, 40, 32), 33)});
  cases.push_back({"packed_odd_channels", packed(make(1, 200, 7), 11)});
  cases.push_back({"packed_taps_8", packed(make(1, 300, 16, 8), 13)});
  cases.push_back({"packed_tap_1", packed(make(1, 150, 16, 1), 5)});
  cases.push_back({"packed_pairs", packed(make(1, 700, 40), 21), 0, true});
  cases.push_back({"packed_twos", packed(make(1, 700, 40), 21), 1});
  cases.push_back({"packed_one_token", packed(make(1, 1, 16), 3)});
  cases.push_back({"states", with_states(make(2, 200, 32))});
  cases.push_back({"states_of_one_token", with_states(make(3, 1, 16))});
  cases.push_back({"states_and_fewer_tokens_than_taps", with_states(make(2, 2, 24))});
  cases.push_back({"states_of_taps_7", with_states(make(2, 130, 9, 7))});
  auto strided = with_states(make(2, 140, 16));
  strided.initial_state_strides = {16 * 9, 1, 16 + 2};
  strided.final_state_strides = {16 * 5, 5, 1};
  strided.weight_type = DType::bf16;
  strided.bias = true;
  cases.push_back({"states_with_strides", strided});
  cases.push_back({"packed_states", with_states(packed(make(1, 333, 32), 17))});
  auto everything = with_states(packed(typed(make(1, 400, 24, 5), DType::fp16, DType::fp16), 19, DType::int64));
  everything.bias = everything.residual = true;
  cases.push_back({"packed_states_bias_and_residual", everything, 0, true});
  auto residual = make(2, 133, 64);
  residual.residual = true;
  cases.push_back({"residual", residual});
  residual.residual_strides = {133 * 200, 200, 1};
  residual.activation = Activation::none;
  cases.push_back({"residual_of_wide_rows", residual});
}

}  // namespace

ops::ConvShape shape_of(const ConvCase& tested) {
  auto shape = ops::make_shape(tested.problem);
  shape.level = tested.level;
  shape.paired = tested.paired;
  return shape;
}

std::vector<ConvCase> conv_cases() {
  std::vector<ConvCase> cases;
  add_sizes(cases);
  add_layouts(cases);
  add_pairs(cases);
  add_sequences(cases);
  cases.push_back({"fp16", typed(make(2, 70, 32), DType::fp16, DType::fp32)});
  cases.push_back({"fp16_weight_fp16", typed(make(2, 70, 32), DType::fp16, DType::fp16)});
  cases.push_back({"fp32", typed(make(2, 256, 32), DType::fp32, DType::fp32)});
  cases.push_back({"bf16_weight_bf16", typed(make(2, 256, 32), DType::bf16, DType::bf16)});
  auto bias = make(2, 200, 32);
  bias.bias = true;
  cases.push_back({"bias", bias});
  auto linear = bias;
  linear.activation = Activation::none;
  cases.push_back({"bias_and_no_activation", linear});
  auto plain = make(2, 100, 32);
  plain.activation = Activation::none;
  cases.push_back({"no_activation", plain});
  return cases;
}

std::vector<ConvCase> conv_cases_with_states() {
  auto cases = conv_cases();
  std::erase_if(cases, [](const ConvCase& one) { return !one.problem.final_state; });
  return cases;
}

}  // namespace strop::test
