#include "tools/strop/bench_suite.h"

#include <fmt/format.h>

#include "src/ops/causal_conv1d/op.h"
#include "tools/strop/arguments.h"

namespace strop::cli {
namespace {

BenchRow row(std::int64_t B, std::int64_t T, std::int64_t D) {
  BenchRow made{fmt::format("{}x{}x{}", B, T, D), {}};
  made.problem.B = B;
  made.problem.T = T;
  made.problem.D = D;
  return made;
}

BenchRow said(BenchRow row, const std::string& word) {
  row.name += " " + word;
  return row;
}

BenchRow of_types(BenchRow row, DType x_type, DType weight_type) {
  row.problem.x_type = x_type;
  row.problem.weight_type = weight_type;
  return row;
}

// x inside rows of `pitch` elements.
BenchRow slice(BenchRow row, std::int64_t pitch) {
  row.problem.x_strides = {row.problem.T * pitch, pitch, 1};
  return row;
}

BenchRow packed(BenchRow row, std::int64_t sequences) {
  row.problem.packed_sequences = sequences;
  return said(std::move(row), fmt::format("packed {}", sequences));
}

// What differs from the reference layer, in words.
BenchRow with_words(BenchRow row) {
  const auto problem = row.problem;
  const CausalConv1dProblem reference;
  const auto when = [&row](bool differs, const std::string& word) {
    if (differs) row = said(std::move(row), word);
  };
  when(problem.W != reference.W, fmt::format("W={}", problem.W));
  when(problem.packed_sequences > 0, fmt::format("packed {}", problem.packed_sequences));
  when(problem.cu_seqlens_type != reference.cu_seqlens_type, std::string(name(problem.cu_seqlens_type)));
  when(problem.bias, "bias");
  when(problem.activation == Activation::none, "no activation");
  when(problem.residual, "residual");
  when(problem.initial_state, "initial state");
  when(problem.final_state, "final state");
  return row;
}

std::vector<BenchRow> table() {
  const auto large = row(16, 8192, 2048);
  auto odd_pitch = said(slice(large, 2049), "pitch 2049");
  odd_pitch.problem.alignment = 4;
  return {large,
          row(1, 8192, 2048),
          row(4, 4096, 2048),
          row(16, 8192, 1024),
          row(16, 8192, 4096),
          row(32, 2048, 1024),
          said(row(16, 8191, 2048), "ragged"),
          said(row(16, 8192 + 37, 2048), "ragged"),
          said(of_types(large, DType::fp16, DType::fp32), "fp16"),
          said(of_types(large, DType::bf16, DType::bf16), "bf16 weight"),
          said(slice(large, std::int64_t{3} * 2048), "QKV slice"),
          packed(row(1, std::int64_t{16} * 8192, 2048), 5),
          packed(row(1, std::int64_t{16} * 8192, 2048), 60),
          odd_pitch,
          said(row(16, 8192, 2047), "odd D"),
          row(1, 2048, 1024),
          row(8, 512, 2048)};
}

}  // namespace

std::vector<BenchRow> rows_of(const std::vector<ops::TrainingShape>& shapes) {
  std::vector<BenchRow> rows;
  rows.reserve(shapes.size());
  for (const auto& shape : shapes) {
    rows.push_back(with_words({fmt::format("{}x{}x{}", shape.B, shape.T, shape.D), ops::conv_problem(shape)}));
  }
  return rows;
}

std::vector<BenchRow> suite(const std::string& name) {
  if (name != "table") refuse_choice("--suite", name, {"table"});
  return table();
}

}  // namespace strop::cli
