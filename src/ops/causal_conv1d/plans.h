#pragma once

// A problem bound to prepared kernels. Immutable; `launch` checks the tensors and launches.

#include <chrono>
#include <memory>

#include "src/ops/causal_conv1d/bounds.h"
#include "src/ops/causal_conv1d/problems.h"
#include "src/ops/causal_conv1d/state_problems.h"
#include "strop/causal_conv1d.h"

namespace strop::ops {

class ForwardPlanOnKernels : public CausalConv1d::ForwardPlan {
 public:
  ForwardPlanOnKernels(Library& library, const ConvShape& shape, Stream stream);
  void launch(const CausalConv1dForward& tensors, Stream stream) const override;
  const PreparedKernel& kernel() const override;
  std::chrono::steady_clock::time_point good_until() const;  // of all its kernels

 private:
  const Library& library_;  // the kernels keep it alive
  ConvShape shape_;
  BoundsCheck bounds_;
  std::shared_ptr<const PreparedKernel> kernel_;  // null for an empty problem
  std::shared_ptr<const PreparedKernel> states_;  // null without final states
  ConvFwdArgs args_;                              // without the tensors
  ConvFinalStateArgs state_args_;
};

class BackwardPlanOnKernels : public CausalConv1d::BackwardPlan {
 public:
  BackwardPlanOnKernels(Library& library, const ConvShape& shape, Stream stream);
  void launch(const CausalConv1dBackward& tensors, Stream stream) const override;
  const PreparedKernel& main_kernel() const override;
  const PreparedKernel& reduce_kernel() const override;
  std::chrono::steady_clock::time_point good_until() const;  // of all its kernels

 private:
  const Library& library_;  // the kernels keep it alive
  ConvShape shape_;
  BoundsCheck bounds_;
  std::size_t workspace_bytes_;
  std::shared_ptr<const PreparedKernel> main_;    // null for an empty problem
  std::shared_ptr<const PreparedKernel> reduce_;  // null without channels
  std::shared_ptr<const PreparedKernel> states_;  // null without states
  void launch_main(const CausalConv1dBackward& tensors, Stream stream) const;
  void launch_states(const CausalConv1dBackward& tensors, Stream stream) const;

  ConvBwdArgs args_;
  ConvDwReduceArgs reduce_args_;
  ConvStateBwdArgs state_args_;
};

std::size_t workspace_bytes(const ConvShape& shape);
// The largest power of two up to 16 that divides every address.
int alignment_of(std::initializer_list<const void*> pointers);

}  // namespace strop::ops
