#include <algorithm>

#include "src/ops/causal_conv1d/common_problem.h"
#include "src/ops/causal_conv1d/problems.h"

namespace strop::ops {
namespace {

constexpr std::int64_t kCheckPartials = 71;  // more than two rounds of the 32 chains, and ragged

std::int64_t lanes_of(const Config& config) { return config.at("block") / config.at("split"); }

}  // namespace

Key ConvDwReduceProblem::key() const {
  const auto& p = shape_.problem;
  Key key;
  key.add("B", p.B).add("T", p.T).add("D", p.D).add("W", p.W);
  key.add("dtype", name(p.x_type)).add("wdtype", name(p.weight_type)).add("bias", p.bias ? "yes" : "no");
  return key;
}

Config ConvDwReduceProblem::constants() const {
  const auto& p = shape_.problem;
  return {{"D", p.D}, {"W", p.W}, {"weight_type", static_cast<int>(p.weight_type)}, {"bias", p.bias ? 1 : 0}, {"threads", 512}};
}

LaunchGeometry ConvDwReduceProblem::geometry(const Config& config) const {
  const std::int64_t columns = shape_.sums() * shape_.problem.D;
  const std::int64_t a_block = lanes_of(config) * config.at("vec");
  LaunchGeometry geometry;
  geometry.grid.x = static_cast<unsigned>((columns + a_block - 1) / a_block);
  geometry.block.x = static_cast<unsigned>(config.at("block"));
  geometry.overlap_previous = true;  // starts while the backward drains, and waits for its partials itself
  return geometry;
}

std::vector<TensorSpec> ConvDwReduceProblem::tensors() const {
  const auto& p = shape_.problem;
  TensorSpec partial;
  partial.name = "partial";
  partial.elements = shape_.partials() * shape_.sums() * p.D;
  TensorSpec dw;
  dw.name = "dw";
  dw.type = p.weight_type;
  dw.elements = p.D * p.W;
  dw.role = Role::output;
  dw.tolerance = Tolerance::storage(p.weight_type);
  dw.tolerance.absolute = 2e-4;  // of sums of numbers of size 1 that may cancel
  if (p.weight_type == DType::fp32) dw.tolerance.rms = 1e-5;
  TensorSpec db = dw;
  db.name = "db";
  db.elements = p.bias ? p.D : 0;
  return {partial, dw, db};
}

ConvDwReduceArgs ConvDwReduceProblem::args(const Config& config, const CausalConv1dBackward& t) const {
  return {static_cast<const float*>(t.workspace), t.dw, t.db, shape_.partials(), static_cast<std::uint32_t>(lanes_of(config))};
}

std::vector<std::byte> ConvDwReduceProblem::arguments(const Config& config, std::span<void* const> p) const {
  CausalConv1dBackward tensors;
  tensors.workspace = p[0];
  tensors.dw = p[1];
  tensors.db = p[2];
  return bytes_of_args(args(config, tensors));
}

void ConvDwReduceProblem::reference(const std::vector<std::vector<double>>& in, std::vector<std::vector<double>>& out) const {
  const auto& p = shape_.problem;
  std::fill(out[1].begin(), out[1].end(), 0.0);
  std::fill(out[2].begin(), out[2].end(), 0.0);
  for (std::int64_t partial = 0; partial < shape_.partials(); ++partial) {
    const double* row = in[0].data() + partial * shape_.sums() * p.D;
    for (std::int64_t k = 0; k < p.W; ++k)
      for (std::int64_t d = 0; d < p.D; ++d) out[1][static_cast<std::size_t>(d * p.W + k)] += row[k * p.D + d];
    for (std::int64_t d = 0; p.bias && d < p.D; ++d) out[2][static_cast<std::size_t>(d)] += row[p.W * p.D + d];
  }
}

std::unique_ptr<KernelProblem> ConvDwReduceProblem::check_problem() const {
  ConvShape small = shape_;
  if (!shape_.empty() && shape_.partials() > kCheckPartials) {
    small.problem.B = kCheckPartials;
    small.problem.T = kUnitRows;
    small.level = 0;
    small.paired = false;
  }
  return std::make_unique<ConvDwReduceProblem>(small);
}

double ConvDwReduceProblem::bytes_moved() const {
  return 4.0 * static_cast<double>(shape_.partials() * shape_.sums() * shape_.problem.D);
}

}  // namespace strop::ops
