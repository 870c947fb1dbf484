#pragma once

// causal_conv1d: the depthwise short convolution of KDA, DeltaNet and Mamba layers, forward and backward.
//
//     pre[b,t,d] = bias[d] + sum_{k=0}^{W-1} weight[d,k] * x[b, t-(W-1)+k, d]          (x before the start of a sequence is 0)
//     y          = silu(pre) = pre * sigmoid(pre), or pre without an activation; plus residual[b,t,d], after the activation
//     g[b,t,d]   = dy * silu'(pre),  silu'(z) = sigmoid(z) * (1 + z * (1 - sigmoid(z)))
//     dx[b,t,d]  = sum_k weight[d,k] * g[b, t+(W-1)-k, d]                              (terms past the end are 0)
//     dw[d,k]    = sum_{b,t} g[b,t,d] * x[b, t-(W-1)+k, d]         db[d] = sum_{b,t} g[b,t,d]         dresidual = dy
//
// States are [N,D,W], N sequences: slot W-j holds the input j rows before the sequence's start (initial state) or after its last row
// (final state). Slot 0 takes no part in the convolution; a sequence shorter than W hands slots of its initial state on to its final one.
// Packed sequences lie one behind the other in x [1,T,D], bounded by cu_seqlens; nothing crosses a boundary.
//
// Tap W-1 multiplies the present. fp32 arithmetic whatever the storage type. dw and db are sums in a fixed order that depends on
// the problem alone: the same bits from run to run and whatever config wins.
//
// Pointers are the caller's device pointers (host pointers on the host device), never kept, never freed; on a GPU what its kernels can't
// reach (a host's memory, another GPU's) is refused by name; an address is looked at once a second. Strides are in elements.
// y must not overlap x, nor dx x or dy (the same pointer is refused). Calls are asynchronous on `stream`. What is not supported is refused with a sentence before anything is launched.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "strop/dtype.h"
#include "strop/library.h"

namespace strop {

enum class Activation { none, silu, swish = silu };

struct CausalConv1dProblem {
  std::int64_t B = 0;  // sequences
  std::int64_t T = 0;  // tokens a sequence
  std::int64_t D = 0;  // channels
  std::int64_t W = 4;  // taps, 1 to 8
  DType x_type = DType::bf16;       // of x, y, dy and dx: bf16, fp16 or fp32
  DType weight_type = DType::fp32;  // of weight, bias, dw and db: fp32, bf16 or fp16
  Activation activation = Activation::silu;
  bool bias = false;
  // Strides [B,T,D] in elements, not negative; {0,0,0} means dense. Inputs may have strides of 0; outputs (y, dx) must not overlap
  // themselves.
  std::array<std::int64_t, 3> x_strides{};
  std::array<std::int64_t, 3> y_strides{};   // of y (forward)
  std::array<std::int64_t, 3> dy_strides{};  // of dy
  bool dy_expanded = false;                  // dy is one element for all, as of `y.sum()`: all its strides are 0
  std::array<std::int64_t, 3> dx_strides{};  // of dx (backward)
  std::array<std::int64_t, 2> weight_strides{};  // [D,W]; {0,0} means dense
  bool residual = false;                           // y gets a [B,T,D] tensor of x's type added
  std::array<std::int64_t, 3> residual_strides{};  // {0,0,0} means dense
  // Packed: x is [1,T,D] and holds this many sequences (at most 2^20), empty ones among them; 0 means B sequences of T tokens each.
  std::int64_t packed_sequences = 0;
  DType cu_seqlens_type = DType::int32;  // int32 or int64
  bool initial_state = false;  // [N,D,W] of x's type, N = B or packed_sequences
  bool final_state = false;    // likewise; of the forward, the backward asks for its gradient by a pointer
  std::array<std::int64_t, 3> initial_state_strides{};  // {0,0,0} means dense
  std::array<std::int64_t, 3> final_state_strides{};    // of the final state and of its gradient
  // The largest power of two, up to 16, that divides the byte address of every tensor the call will pass; 16 is what allocators
  // give. Slices may have less: the alignment is part of the key's class. Each tensor is aligned to its own elements at least.
  int alignment = 16;

  friend bool operator==(const CausalConv1dProblem&, const CausalConv1dProblem&) = default;
};

struct CausalConv1dForward {
  const void* x = nullptr;
  const void* weight = nullptr;
  const void* bias = nullptr;  // null exactly when problem.bias is false
  void* y = nullptr;
  const void* residual = nullptr;       // null exactly when problem.residual is false
  const void* initial_state = nullptr;  // null exactly when problem.initial_state is false
  void* final_state = nullptr;          // null exactly when problem.final_state is false
  const void* cu_seqlens = nullptr;     // [packed_sequences + 1], from 0 to T, never decreasing; null exactly when not packed
  // The same numbers in host memory, read during the call. Without them the call reads cu_seqlens back and waits for the stream.
  const void* cu_seqlens_host = nullptr;
};

struct CausalConv1dBackward {
  const void* x = nullptr;
  const void* weight = nullptr;
  const void* bias = nullptr;
  const void* dy = nullptr;
  void* dx = nullptr;
  void* dw = nullptr;          // [D,W] dense, weight_type
  void* db = nullptr;          // [D], weight_type; null exactly when problem.bias is false
  void* workspace = nullptr;   // 256-byte aligned, at least backward_workspace_bytes(problem); contents undefined before and after
  std::size_t workspace_bytes = 0;
  const void* initial_state = nullptr;    // null exactly when problem.initial_state is false
  void* d_initial_state = nullptr;        // [N,D,W] dense, x's type; null: not wanted
  const void* d_final_state = nullptr;    // by final_state_strides; null: no gradient flows back from the final state
  const void* cu_seqlens = nullptr;       // as in the forward
  const void* cu_seqlens_host = nullptr;
};

class CausalConv1d {
 public:
  // A problem bound to loaded kernels. `launch` does nothing but launches. Keep it as long as you like; it keeps its library alive.
  class ForwardPlan {
   public:
    virtual ~ForwardPlan() = default;
    virtual void launch(const CausalConv1dForward& tensors, Stream stream) const = 0;
    virtual const PreparedKernel& kernel() const = 0;
  };
  class BackwardPlan {
   public:
    virtual ~BackwardPlan() = default;
    virtual void launch(const CausalConv1dBackward& tensors, Stream stream) const = 0;
    virtual const PreparedKernel& main_kernel() const = 0;
    virtual const PreparedKernel& reduce_kernel() const = 0;
  };

  explicit CausalConv1d(std::shared_ptr<Library> library);
  ~CausalConv1d();
  CausalConv1d(const CausalConv1d&) = delete;
  CausalConv1d& operator=(const CausalConv1d&) = delete;

  // Empty when supported, else the reason, fit for a training log.
  static std::optional<std::string> why_unsupported(const CausalConv1dProblem& problem);
  static bool supported(const CausalConv1dProblem& problem) { return !why_unsupported(problem); }

  // Tunes forward and backward of every problem; see Library::warmup.
  Report warmup(std::span<const CausalConv1dProblem> problems, const WarmupOptions& options = {});
  // The training shapes: one B and T, several D and W.
  Report warmup(std::int64_t B, std::int64_t T, std::span<const std::int64_t> D, std::span<const std::int64_t> W, DType x_type,
                DType weight_type = DType::fp32, const WarmupOptions& options = {});

  // Bytes of scratch the backward needs (partial sums of dw and db).
  static std::size_t backward_workspace_bytes(const CausalConv1dProblem& problem);

  // Throw Unsupported (bad problem or tensors), NotReady (policy, capture), CudaError. The warm path is one hash and one launch a
  // kernel. The alignment of the pointers is read from them, not from the problem.
  void forward(const CausalConv1dProblem& problem, const CausalConv1dForward& tensors, Stream stream);
  void backward(const CausalConv1dProblem& problem, const CausalConv1dBackward& tensors, Stream stream);

  std::shared_ptr<const ForwardPlan> plan_forward(const CausalConv1dProblem& problem, Stream stream = nullptr);
  std::shared_ptr<const BackwardPlan> plan_backward(const CausalConv1dProblem& problem, Stream stream = nullptr);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace strop
