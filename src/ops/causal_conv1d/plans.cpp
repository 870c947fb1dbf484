#include "src/ops/causal_conv1d/plans.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>

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

// A tensor is given exactly when the problem has it.
void require_when(bool there, const void* pointer, const char* name) {
  if ((pointer != nullptr) != there) [[unlikely]]
    refuse(there ? fmt::format("{} is null, the problem has one", name) : fmt::format("{} is given, the problem has none", name));
}

// Threads read rows that others have written by then. Slices of one buffer that interleave are fine, and not told apart from this.
void require_apart(const void* out, const char* out_name, const void* in, const char* in_name) {
  if (out == in) [[unlikely]]
    refuse(fmt::format("{} and {} are the same memory: the convolution can't be done in place", out_name, in_name));
}

void require_aligned(const ConvShape& shape, std::initializer_list<const void*> pointers) {
  const int have = alignment_of(pointers);
  if (have < shape.problem.alignment) [[unlikely]]
    refuse(fmt::format("a tensor is aligned to {} bytes, the plan was made for {}", have, shape.problem.alignment));
}

struct Tensor {
  const void* pointer;
  const char* name;
  DType type;
};

// A kernel that reads across an element's boundary ends the context, as do tensors of another device, or of the host.
void require_usable(const Library& library, std::initializer_list<Tensor> tensors) {
  for (const auto& tensor : tensors)
    if (reinterpret_cast<std::uintptr_t>(tensor.pointer) % size_of(tensor.type) != 0) [[unlikely]]
      refuse(fmt::format("{} is not aligned to its elements of {} bytes", tensor.name, size_of(tensor.type)));
  std::array<const void*, 12> pointers{};
  std::size_t count = 0;
  for (const auto& tensor : tensors) pointers[count++] = tensor.pointer;
  const auto at = library.first_unreachable({pointers.data(), count});
  if (at < count) [[unlikely]]
    refuse(fmt::format("{} is {}, and the library runs on cuda:{}: all tensors of a call are on one device", tensors.begin()[at].name,
                       library.describe_pointer(pointers[at]), library.device().ordinal));
}

// What launches for an empty problem alone is not worth a tuning.
std::optional<MissPolicy> untuned_when_empty(const ConvShape& shape) {
  return shape.empty() ? std::optional(MissPolicy::nearest) : std::nullopt;
}

std::chrono::steady_clock::time_point earliest(std::initializer_list<const PreparedKernel*> kernels) {
  auto first = std::chrono::steady_clock::time_point::max();
  for (const auto* kernel : kernels)
    if (kernel != nullptr) first = std::min(first, kernel->good_until());
  return first;
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

ForwardPlanOnKernels::ForwardPlanOnKernels(Library& library, const ConvShape& shape, Stream stream)
    : library_(library), shape_(shape), bounds_(library, shape), args_{}, state_args_{} {
  if (!shape.empty()) {
    const ConvFwdProblem problem(shape);
    kernel_ = library.prepare(conv_fwd_kernel(), problem, stream);
    args_ = problem.args(kernel_->config(), {});
  }
  if (shape.problem.final_state && shape.has_states()) {
    const ConvFinalStateProblem problem(shape);
    states_ = library.prepare(conv_final_state_kernel(), problem, stream, untuned_when_empty(shape));
    state_args_ = problem.args(states_->config(), {});
  }
}

void ForwardPlanOnKernels::launch(const CausalConv1dForward& t, Stream stream) const {
  if (!kernel_ && !states_) return;
  const auto& p = shape_.problem;
  require_when(shape_.problem.initial_state, t.initial_state, "initial_state");
  require_when(shape_.problem.final_state, t.final_state, "final_state");
  bounds_.require_given(t.cu_seqlens, t.cu_seqlens_host);
  if (kernel_) {
    require(t.x, "x");
    require(t.weight, "weight");
    require(t.y, "y");
    require_when(shape_.problem.bias, t.bias, "bias");
    require_when(shape_.problem.residual, t.residual, "residual");
    require_apart(t.y, "y", t.x, "x");
    require_aligned(shape_, {t.x, t.weight, t.bias, t.y, t.residual});
  }
  require_usable(library_, {{t.x, "x", p.x_type},
                            {t.weight, "weight", p.weight_type},
                            {t.bias, "bias", p.weight_type},
                            {t.y, "y", p.x_type},
                            {t.residual, "residual", p.x_type},
                            {t.initial_state, "initial_state", p.x_type},
                            {t.final_state, "final_state", p.x_type},
                            {t.cu_seqlens, "cu_seqlens", p.cu_seqlens_type}});
  bounds_.check(t.cu_seqlens, t.cu_seqlens_host, stream);
  if (kernel_) {
    ConvFwdArgs args = args_;
    args.x = t.x;
    args.weight = t.weight;
    args.bias = t.bias;
    args.residual = t.residual;
    args.y = t.y;
    args.sequences.initial = t.initial_state;
    args.sequences.bounds = t.cu_seqlens;
    kernel_->launch(&args, sizeof args, stream);
  }
  if (states_) {
    ConvFinalStateArgs args = state_args_;
    args.x = t.x;
    args.final = t.final_state;
    args.sequences.initial = t.initial_state;
    args.sequences.bounds = t.cu_seqlens;
    states_->launch(&args, sizeof args, stream);
  }
}

std::chrono::steady_clock::time_point ForwardPlanOnKernels::good_until() const { return earliest({kernel_.get(), states_.get()}); }

const PreparedKernel& ForwardPlanOnKernels::kernel() const { return existing(kernel_); }

BackwardPlanOnKernels::BackwardPlanOnKernels(Library& library, const ConvShape& shape, Stream stream)
    : library_(library),
      shape_(shape),
      bounds_(library, shape),
      workspace_bytes_(workspace_bytes(shape)),
      args_{},
      reduce_args_{},
      state_args_{} {
  if (!shape.empty()) {
    const ConvBwdProblem problem(shape);
    main_ = library.prepare(conv_bwd_kernel(), problem, stream);
    args_ = problem.args(main_->config(), {});
  }
  if (shape.problem.D == 0) return;
  // Without rows dw is a sum over nothing: the reduction writes the zeros.
  const ConvDwReduceProblem problem(shape);
  reduce_ = library.prepare(conv_dw_reduce_kernel(), problem, stream, untuned_when_empty(shape));
  reduce_args_ = problem.args(reduce_->config(), {});
  if ((shape.problem.initial_state || shape.problem.final_state) && shape.has_states()) {
    const ConvStateBwdProblem states(shape);
    states_ = library.prepare(conv_state_bwd_kernel(), states, stream, untuned_when_empty(shape));
    state_args_ = states.args(states_->config(), {});
  }
}

void BackwardPlanOnKernels::launch(const CausalConv1dBackward& t, Stream stream) const {
  if (!reduce_) return;
  const auto& p = shape_.problem;
  require(t.dw, "dw");
  require_when(shape_.problem.bias, t.db, "db");
  require_when(shape_.problem.initial_state, t.initial_state, "initial_state");
  if (!shape_.problem.initial_state) require_when(false, t.d_initial_state, "d_initial_state");
  if (!shape_.problem.final_state) require_when(false, t.d_final_state, "d_final_state");
  bounds_.require_given(t.cu_seqlens, t.cu_seqlens_host);
  if (main_) {
    require(t.x, "x");
    require(t.weight, "weight");
    require(t.dy, "dy");
    require(t.dx, "dx");
    require_when(shape_.problem.bias, t.bias, "bias");
    require_apart(t.dx, "dx", t.x, "x");
    require_apart(t.dx, "dx", t.dy, "dy");
    require_aligned(shape_, {t.x, t.weight, t.bias, t.dy, t.dx});
    if (t.workspace == nullptr || t.workspace_bytes < workspace_bytes_) [[unlikely]]
      refuse(fmt::format("the backward needs a workspace of {} bytes (backward_workspace_bytes), {} were given", workspace_bytes_,
                         t.workspace == nullptr ? 0 : t.workspace_bytes));
    if (reinterpret_cast<std::uintptr_t>(t.workspace) % kWorkspaceAlignment != 0) [[unlikely]]
      refuse(fmt::format("the workspace is not aligned to {} bytes", kWorkspaceAlignment));
  }
  require_usable(library_, {{t.x, "x", p.x_type},
                            {t.weight, "weight", p.weight_type},
                            {t.bias, "bias", p.weight_type},
                            {t.dy, "dy", p.x_type},
                            {t.dx, "dx", p.x_type},
                            {t.dw, "dw", p.weight_type},
                            {t.db, "db", p.weight_type},
                            {t.workspace, "workspace", DType::fp32},
                            {t.initial_state, "initial_state", p.x_type},
                            {t.d_initial_state, "d_initial_state", p.x_type},
                            {t.d_final_state, "d_final_state", p.x_type},
                            {t.cu_seqlens, "cu_seqlens", p.cu_seqlens_type}});
  bounds_.check(t.cu_seqlens, t.cu_seqlens_host, stream);
  launch_main(t, stream);
  launch_states(t, stream);
}

void BackwardPlanOnKernels::launch_main(const CausalConv1dBackward& t, Stream stream) const {
  if (main_) {
    ConvBwdArgs args = args_;
    args.x = t.x;
    args.weight = t.weight;
    args.bias = t.bias;
    args.dy = t.dy;
    args.dx = t.dx;
    args.partial = static_cast<float*>(t.workspace);
    args.sequences.initial = t.initial_state;
    args.sequences.bounds = t.cu_seqlens;
    main_->launch(&args, sizeof args, stream);
  }
  ConvDwReduceArgs args = reduce_args_;
  args.partial = static_cast<const float*>(t.workspace);
  args.dw = t.dw;
  args.db = t.db;
  reduce_->launch(&args, sizeof args, stream);
}

void BackwardPlanOnKernels::launch_states(const CausalConv1dBackward& t, Stream stream) const {
  if (!states_ || (t.d_initial_state == nullptr && t.d_final_state == nullptr)) return;
  ConvStateBwdArgs args = state_args_;
  args.x = t.x;
  args.weight = t.weight;
  args.bias = t.bias;
  args.dy = t.dy;
  args.d_final = t.d_final_state;
  args.d_initial = t.d_initial_state;
  args.dx = t.dx;
  args.sequences.initial = t.initial_state;
  args.sequences.bounds = t.cu_seqlens;
  states_->launch(&args, sizeof args, stream);
}

std::chrono::steady_clock::time_point BackwardPlanOnKernels::good_until() const {
  return earliest({main_.get(), reduce_.get(), states_.get()});
}

const PreparedKernel& BackwardPlanOnKernels::main_kernel() const { return existing(main_); }
const PreparedKernel& BackwardPlanOnKernels::reduce_kernel() const { return existing(reduce_); }

}  // namespace strop::ops
