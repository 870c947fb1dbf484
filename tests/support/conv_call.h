#pragma once

// causal_conv1d called as a user does, through its public interface, on seeded tensors of a library's device; and the same in fp64.

#include <memory>
#include <string>
#include <vector>

#include "src/ops/causal_conv1d/shape.h"
#include "strop/causal_conv1d.h"
#include "strop/kernel.h"

namespace strop::test {

class ConvCall {
 public:
  // `bounds`: of packed sequences; empty: those of ops::bounds_tensor.
  ConvCall(std::shared_ptr<Library> library, const CausalConv1dProblem& problem, std::vector<std::int64_t> bounds = {});

  CausalConv1dForward forward_tensors() const;
  CausalConv1dBackward backward_tensors() const;

  // Runs both directions and compares every output with fp64. Empty when all is right, else what is wrong.
  std::string wrong(CausalConv1d& conv);
  // An output's elements, after a run. Names: y, final_state, dx, dw, db, d_initial_state.
  std::vector<double> values(const std::string& name) const;
  // Overwrites one element of an input.
  void set(const std::string& name, std::int64_t element, double value);

  void run(CausalConv1d& conv);
  const ops::ConvShape& shape() const { return shape_; }

 private:
  struct Tensor {
    TensorSpec spec;
    std::shared_ptr<void> memory;
    std::vector<std::byte> host;  // of inputs
    void* data() const { return spec.elements > 0 ? static_cast<std::byte*>(memory.get()) + spec.misalign : nullptr; }
  };
  void add(TensorSpec spec);
  const Tensor& tensor(const std::string& name) const;
  void upload(const Tensor& tensor);
  void poison();
  std::vector<double> input(const std::string& name) const;
  std::vector<double> expected(const std::string& name) const;

  std::shared_ptr<Library> library_;
  ops::ConvShape shape_;
  std::vector<Tensor> tensors_;
  std::shared_ptr<void> workspace_;
  std::size_t workspace_bytes_ = 0;
};

}  // namespace strop::test
