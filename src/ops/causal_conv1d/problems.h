#pragma once

// The three kernels on one problem, as strop::KernelProblem sees them.

#include "src/ops/causal_conv1d/shape.h"
#include "strop/kernel.h"

namespace strop::ops {

class ConvFwdProblem : public KernelProblem {
 public:
  explicit ConvFwdProblem(const ConvShape& shape) : shape_(shape) {}
  Key key() const override;
  Config constants() const override;
  LaunchGeometry geometry(const Config& config) const override;
  std::vector<TensorSpec> tensors() const override;
  std::vector<std::byte> arguments(const Config& config, std::span<void* const> pointers) const override;
  void reference(const std::vector<std::vector<double>>& in, std::vector<std::vector<double>>& out) const override;
  std::unique_ptr<KernelProblem> check_problem() const override;
  double bytes_moved() const override;

  ConvFwdArgs args(const Config& config, const CausalConv1dForward& tensors) const;

 private:
  ConvShape shape_;
};

class ConvBwdProblem : public KernelProblem {
 public:
  explicit ConvBwdProblem(const ConvShape& shape) : shape_(shape) {}
  Key key() const override;
  Config constants() const override;
  LaunchGeometry geometry(const Config& config) const override;
  std::vector<TensorSpec> tensors() const override;
  std::vector<std::byte> arguments(const Config& config, std::span<void* const> pointers) const override;
  void reference(const std::vector<std::vector<double>>& in, std::vector<std::vector<double>>& out) const override;
  std::unique_ptr<KernelProblem> check_problem() const override;
  double bytes_moved() const override;

  ConvBwdArgs args(const Config& config, const CausalConv1dBackward& tensors) const;

 private:
  ConvShape shape_;
};

class ConvDwReduceProblem : public KernelProblem {
 public:
  explicit ConvDwReduceProblem(const ConvShape& shape) : shape_(shape) {}
  Key key() const override;
  Config constants() const override;
  LaunchGeometry geometry(const Config& config) const override;
  std::vector<TensorSpec> tensors() const override;
  std::vector<std::byte> arguments(const Config& config, std::span<void* const> pointers) const override;
  void reference(const std::vector<std::vector<double>>& in, std::vector<std::vector<double>>& out) const override;
  std::unique_ptr<KernelProblem> check_problem() const override;
  double bytes_moved() const override;

  ConvDwReduceArgs args(const Config& config, const CausalConv1dBackward& tensors) const;

 private:
  ConvShape shape_;
};

}  // namespace strop::ops
