#pragma once

// What the command and the warmup know of an op: its name, its kernels, and the problems that a line of training shapes stands for.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "strop/library.h"

namespace strop::ops {

struct TrainingShape {
  std::int64_t B = 0, T = 0, D = 0, W = 0;
  DType x_type = DType::bf16;
  DType weight_type = DType::fp32;
};

class Op {
 public:
  virtual ~Op() = default;
  virtual const std::string& name() const = 0;
  virtual std::vector<const Kernel*> kernels() const = 0;
  virtual std::optional<std::string> why_unsupported(const TrainingShape& shape) const = 0;
  // Forward, backward and helpers, in that order.
  virtual std::vector<WarmupItem> items(const TrainingShape& shape) const = 0;
};

const std::vector<const Op*>& all();
const Op* find(const std::string& name);

}  // namespace strop::ops
