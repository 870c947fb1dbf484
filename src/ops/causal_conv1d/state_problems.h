#pragma once

// The two kernels at the ends of sequences, as strop::KernelProblem sees them: the final states of the forward, and what the backward
// owes to states.

#include "src/ops/causal_conv1d/shape.h"
#include "strop/kernel.h"

namespace strop::ops {

class ConvFinalStateProblem : public KernelProblem {
 public:
  explicit ConvFinalStateProblem(const ConvShape& shape) : shape_(shape) {}
  Key key() const override;
  Config constants() const override;
  LaunchGeometry geometry(const Config& config) const override;
  std::vector<TensorSpec> tensors() const override;
  std::vector<std::byte> arguments(const Config& config, std::span<void* const> pointers) const override;
  void reference(const std::vector<std::vector<double>>& in, std::vector<std::vector<double>>& out) const override;
  std::unique_ptr<KernelProblem> check_problem() const override;

  ConvFinalStateArgs args(const Config& config, const CausalConv1dForward& tensors) const;

 private:
  ConvShape shape_;
};

class ConvStateBwdProblem : public KernelProblem {
 public:
  explicit ConvStateBwdProblem(const ConvShape& shape) : shape_(shape) {}
  Key key() const override;
  Config constants() const override;
  LaunchGeometry geometry(const Config& config) const override;
  std::vector<TensorSpec> tensors() const override;
  std::vector<std::byte> arguments(const Config& config, std::span<void* const> pointers) const override;
  void reference(const std::vector<std::vector<double>>& in, std::vector<std::vector<double>>& out) const override;
  std::unique_ptr<KernelProblem> check_problem() const override;

  ConvStateBwdArgs args(const Config& config, const CausalConv1dBackward& tensors) const;

 private:
  ConvShape shape_;
};

}  // namespace strop::ops
