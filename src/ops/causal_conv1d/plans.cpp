#include "src/ops/causal_conv1d/plans.h"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

#include "src/ops/causal_conv1d/kernels.h"
#include "strop/error.h"

namespace strop::ops {
namespace {

constexpr std::size_t kWorkspaceAlignment = 256;

[[noreturn]] void refuse(const std::string& why) { throw Unsupported("causal_conv1d: " + why); }

void require(const void* pointer, const char* name) {
  if (pointer == nullptr) [[unlikely]]
    refuse(fmt::format("{} is null", name));
}

void require_bias(const ConvShape& shape, const void* pointer, const char* name) {
  if ((pointer != nullptr) != shape.problem.bias) [[unlikely]]
    refuse(shape.problem.bias ? fmt::format("{} is null, the problem has a bias", name) : fmt::format("{} is given, the problem has no bias", name));
}

void require_aligned(const ConvShape& shape, std::initializer_list<const void*> pointers) {
  const int have = alignment_of(pointers);
  if (have < shape.problem.alignment) [[unlikely]]
    refuse(fmt::format("a tensor is aligned to {} bytes, the plan was made for {}", have, shape.problem.alignment));
}

const PreparedKernel& existing(const std::shared_ptr<const PreparedKernel>& kernel) {
  if (!kernel) refuse("an empty problem launches no kernel");
  return *kernel;
}

}  // namespace

int alignment_of(std::initializer_list<const void*> pointers) {
  std::uintptr_t bits = 16;
  for (const void* pointer : pointers) bits |= reinterpret_cast<std::uintptr_t>(pointer);
  return static_cast<int>(bits & (~bits + 1));
}

std::size_t workspace_bytes(const ConvShape& shape) {
  if (shape.empty()) return 0;
  const auto floats = shape.partials() * shape.sums() * shape.problem.D;
  return (static_cast<std::size_t>(floats) * sizeof(float) + kWorkspaceAlignment - 1) / kWorkspaceAlignment * kWorkspaceAlignment;
}

ForwardPlanOnKernels::ForwardPlanOnKernels(Library& library, const ConvShape& shape, Stream stream) : shape_(shape), args_{} {
  if (shape.empty()) return;
  const ConvFwdProblem problem(shape);
  kernel_ = library.prepare(conv_fwd_kernel(), problem, stream);
  args_ = problem.args(kernel_->config(), {});
}

void ForwardPlanOnKernels::launch(const CausalConv1dForward& t, Stream stream) const {
  if (shape_.empty()) return;
  require(t.x, "x");
  require(t.weight, "weight");
  require(t.y, "y");
  require_bias(shape_, t.bias, "bias");
  require_aligned(shape_, {t.x, t.weight, t.bias, t.y});
  ConvFwdArgs args = args_;
  args.x = t.x;
  args.weight = t.weight;
  args.bias = t.bias;
  args.y = t.y;
  kernel_->launch(&args, sizeof args, stream);
}

const PreparedKernel& ForwardPlanOnKernels::kernel() const { return existing(kernel_); }

BackwardPlanOnKernels::BackwardPlanOnKernels(Library& library, const ConvShape& shape, Stream stream)
    : shape_(shape), workspace_bytes_(workspace_bytes(shape)), args_{}, reduce_args_{} {
  if (!shape.empty()) {
    const ConvBwdProblem problem(shape);
    main_ = library.prepare(conv_bwd_kernel(), problem, stream);
    args_ = problem.args(main_->config(), {});
  }
  if (shape.problem.D == 0) return;
  // Without rows dw is a sum over nothing: the reduction writes the zeros.
  const ConvDwReduceProblem problem(shape);
  const auto policy = shape.empty() ? std::optional(MissPolicy::nearest) : std::nullopt;
  reduce_ = library.prepare(conv_dw_reduce_kernel(), problem, stream, policy);
  reduce_args_ = problem.args(reduce_->config(), {});
}

void BackwardPlanOnKernels::launch(const CausalConv1dBackward& t, Stream stream) const {
  if (!reduce_) return;
  require(t.dw, "dw");
  require_bias(shape_, t.db, "db");
  if (main_) {
    require(t.x, "x");
    require(t.weight, "weight");
    require(t.dy, "dy");
    require(t.dx, "dx");
    require_bias(shape_, t.bias, "bias");
    require_aligned(shape_, {t.x, t.weight, t.bias, t.dy, t.dx});
    if (t.workspace == nullptr || t.workspace_bytes < workspace_bytes_) [[unlikely]]
      refuse(fmt::format("the backward needs a workspace of {} bytes (backward_workspace_bytes), {} were given", workspace_bytes_,
                         t.workspace == nullptr ? 0 : t.workspace_bytes));
    if (reinterpret_cast<std::uintptr_t>(t.workspace) % kWorkspaceAlignment != 0) [[unlikely]]
      refuse(fmt::format("the workspace is not aligned to {} bytes", kWorkspaceAlignment));
    ConvBwdArgs args = args_;
    args.x = t.x;
    args.weight = t.weight;
    args.bias = t.bias;
    args.dy = t.dy;
    args.dx = t.dx;
    args.partial = static_cast<float*>(t.workspace);
    main_->launch(&args, sizeof args, stream);
  }
  ConvDwReduceArgs args = reduce_args_;
  args.partial = static_cast<const float*>(t.workspace);
  args.dw = t.dw;
  args.db = t.db;
  reduce_->launch(&args, sizeof args, stream);
}

const PreparedKernel& BackwardPlanOnKernels::main_kernel() const { return existing(main_); }
const PreparedKernel& BackwardPlanOnKernels::reduce_kernel() const { return existing(reduce_); }

}  // namespace strop::ops
