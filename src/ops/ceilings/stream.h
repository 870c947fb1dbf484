#pragma once

// Copy and add kernels over a given number of bytes, on the same API as every op: the ceilings that `strop bench` measures beside an
// op in the same run.

#include <cstdint>

#include "strop/kernel.h"

namespace strop::ops {

const Kernel& stream_kernel();

// `inputs` 1: out = a; 2: out = a + b. `bytes` of each tensor, a multiple of 16.
class StreamProblem : public KernelProblem {
 public:
  StreamProblem(int inputs, std::int64_t bytes) : inputs_(inputs), packs_(bytes / 16) {}
  Key key() const override;
  Config constants() const override { return {{"inputs", inputs_}}; }
  LaunchGeometry geometry(const Config& config) const override;
  std::vector<TensorSpec> tensors() const override;
  std::vector<std::byte> arguments(const Config& config, std::span<void* const> pointers) const override;
  void reference(const std::vector<std::vector<double>>& in, std::vector<std::vector<double>>& out) const override;
  std::unique_ptr<KernelProblem> check_problem() const override;
  double bytes_moved() const override { return 16.0 * static_cast<double>(packs_) * (inputs_ + 1); }

 private:
  int inputs_;
  std::int64_t packs_;
};

}  // namespace strop::ops
