#include "src/ops/ceilings/stream.h"

#include <algorithm>
#include <cstring>

namespace strop::ops {
namespace {

// Twin of strop::StreamArgs in templates/ceilings/stream.cuh.
struct StreamArgs {
  const void* a;
  const void* b;
  void* out;
  long long packs;
};

Kernel make_stream_kernel() {
  Kernel kernel;
  kernel.source.name = "stream";
  kernel.source.file = "ceilings/stream.cuh";
  kernel.source.function = "strop::stream";
  kernel.source.params = "strop::StreamParams";
  kernel.source.args = "strop::StreamArgs";
  kernel.source.args_size = sizeof(StreamArgs);
  kernel.space.parameter("threads", {256, 128, 512, 1024}).fallback({{"threads", 256}});
  return kernel;
}

}  // namespace

const Kernel& stream_kernel() {
  static const Kernel kernel = make_stream_kernel();
  return kernel;
}

Key StreamProblem::key() const {
  Key key;
  key.add("inputs", inputs_).add("bytes", 16 * packs_);
  return key;
}

LaunchGeometry StreamProblem::geometry(const Config& config) const {
  const std::int64_t threads = config.at("threads");
  LaunchGeometry geometry;
  geometry.block.x = static_cast<unsigned>(threads);
  geometry.grid.x = static_cast<unsigned>((packs_ + threads - 1) / threads);
  return geometry;
}

std::vector<TensorSpec> StreamProblem::tensors() const {
  TensorSpec a;
  a.name = "a";
  a.elements = 4 * packs_;
  std::vector<TensorSpec> specs{a};
  if (inputs_ == 2) {
    specs.push_back(a);
    specs.back().name = "b";
  }
  specs.push_back(a);
  specs.back().name = "out";
  specs.back().role = Role::output;
  specs.back().tolerance = Tolerance::storage(DType::fp32);
  return specs;
}

std::vector<std::byte> StreamProblem::arguments(const Config&, std::span<void* const> pointers) const {
  const StreamArgs args{pointers.front(), inputs_ == 2 ? pointers[1] : nullptr, pointers.back(), packs_};
  std::vector<std::byte> bytes(sizeof args);
  std::memcpy(bytes.data(), &args, sizeof args);
  return bytes;
}

void StreamProblem::reference(const std::vector<std::vector<double>>& in, std::vector<std::vector<double>>& out) const {
  out.back() = in[0];
  if (inputs_ == 2)
    for (std::size_t i = 0; i < in[1].size(); ++i) out.back()[i] += in[1][i];
}

std::unique_ptr<KernelProblem> StreamProblem::check_problem() const {
  return std::make_unique<StreamProblem>(inputs_, 16 * std::min<std::int64_t>(packs_, 5000));
}

}  // namespace strop::ops
