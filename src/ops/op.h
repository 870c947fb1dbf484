#pragma once

// What the command and the warmup know of an op: its name, its kernels, and the problems that a line of training shapes stands for.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "strop/causal_conv1d.h"
#include "strop/library.h"

namespace strop::ops {

// Tensors are dense and aligned; the rest is what a layer may ask for.
struct TrainingShape {
  std::int64_t B = 0, T = 0, D = 0, W = 0;
  DType x_type = DType::bf16;
  DType weight_type = DType::fp32;
  Activation activation = Activation::silu;
  bool bias = false;
  bool residual = false;
  std::int64_t packed_sequences = 0;  // 0: B sequences of T tokens each
  DType cu_seqlens_type = DType::int32;
  bool initial_state = false;
  bool final_state = false;
};

class Op {
 public:
  virtual ~Op() = default;
  virtual const std::string& name() const = 0;
  virtual std::vector<const Kernel*> kernels() const = 0;
  virtual std::optional<std::string> why_unsupported(const TrainingShape& shape) const = 0;
  // Forward, backward and helpers, in that order.
  virtual std::vector<WarmupItem> items(const TrainingShape& shape) const = 0;
  // The problem of a stored key, whose own key is just that one. Empty when the kernel is another's, or when the key doesn't say enough
  // to make the problem again.
  virtual std::optional<WarmupItem> item_of(const std::string& kernel, const Key& key) const = 0;
};

const std::vector<const Op*>& all();
const Op* find(const std::string& name);

}  // namespace strop::ops
