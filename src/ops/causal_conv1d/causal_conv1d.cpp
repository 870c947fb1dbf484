#include "strop/causal_conv1d.h"

#include <chrono>

#include "src/ops/causal_conv1d/gate.h"
#include "src/ops/causal_conv1d/op.h"
#include "src/ops/causal_conv1d/plan_table.h"
#include "src/ops/causal_conv1d/plans.h"
#include "strop/error.h"

namespace strop {
namespace {

struct ProblemHash {
  std::size_t operator()(const CausalConv1dProblem& p) const {
    std::uint64_t h = 0x9e3779b97f4a7c15U;
    const auto mix = [&h](std::int64_t value) { h = (h ^ static_cast<std::uint64_t>(value)) * 0xff51afd7ed558ccdU, h ^= h >> 32; };
    mix(p.B), mix(p.T), mix(p.D), mix(p.W);
    mix(static_cast<int>(p.x_type) | static_cast<int>(p.weight_type) << 4 | static_cast<int>(p.activation) << 8 | p.bias << 12 |
        p.dy_expanded << 13 | p.residual << 14 | p.initial_state << 15 | p.alignment << 16 | p.final_state << 21 |
        static_cast<int>(p.cu_seqlens_type) << 24);
    mix(p.packed_sequences);
    for (const auto* strides : {&p.x_strides, &p.y_strides, &p.dy_strides, &p.dx_strides})
      for (const auto stride : *strides) mix(stride);
    for (const auto stride : p.weight_strides) mix(stride);
    return h;
  }
};

// The clock is asked for stand-ins alone.
bool still_good(std::chrono::steady_clock::time_point until) {
  return until == std::chrono::steady_clock::time_point::max() || std::chrono::steady_clock::now() < until;
}

void require_supported(const CausalConv1dProblem& problem) {
  if (auto reason = ops::why_unsupported(problem)) throw Unsupported(*reason);
}

}  // namespace

struct CausalConv1d::Impl {
  template <class Plan>
  struct Bound {
    std::shared_ptr<const Plan> plan;
    std::uint64_t generation = 0;
    std::chrono::steady_clock::time_point good_until;
  };
  template <class Plan>
  using Table = ops::PlanTable<CausalConv1dProblem, Bound<Plan>, ProblemHash>;

  std::shared_ptr<Library> library;
  Table<ForwardPlan> forward;
  Table<BackwardPlan> backward;

  // The bound plan of a problem, made or made again when the library's winners moved or what stood in for one has had its time.
  template <class Made, class Plan>
  std::shared_ptr<const Plan> plan(Table<Plan>& table, const CausalConv1dProblem& problem, Stream stream) {
    const auto generation = library->generation();
    auto bound = table.find(problem);
    if (bound.plan && bound.generation == generation && still_good(bound.good_until)) [[likely]]
      return std::move(bound.plan);
    return make<Made>(table, problem, stream, bound.plan != nullptr);
  }

  template <class Made, class Plan>
  std::shared_ptr<const Plan> make(Table<Plan>& table, const CausalConv1dProblem& problem, Stream stream, bool again) {
    require_supported(problem);
    // Read before: what another thread changes meanwhile is noticed at the next call. Tuning this very problem may cost that call a look too.
    const auto generation = library->generation();
    auto plan = std::make_shared<Made>(*library, ops::make_shape(problem), stream);
    const auto good_until = plan->good_until();
    return table.insert(problem, {std::move(plan), generation, good_until}, again).plan;
  }
};

CausalConv1d::CausalConv1d(std::shared_ptr<Library> library) : impl_(std::make_unique<Impl>()) {
  if (!library) throw Error("CausalConv1d needs an open library");
  impl_->library = std::move(library);
}

CausalConv1d::~CausalConv1d() = default;

std::optional<std::string> CausalConv1d::why_unsupported(const CausalConv1dProblem& problem) { return ops::why_unsupported(problem); }

Report CausalConv1d::warmup(std::span<const CausalConv1dProblem> problems, const WarmupOptions& options) {
  std::vector<WarmupItem> items;
  for (const auto& problem : problems) {
    require_supported(problem);
    for (auto& item : ops::conv_items(problem)) items.push_back(std::move(item));
  }
  return impl_->library->warmup(items, options);
}

Report CausalConv1d::warmup(std::int64_t B, std::int64_t T, std::span<const std::int64_t> D, std::span<const std::int64_t> W, DType x_type,
                            DType weight_type, const WarmupOptions& options) {
  std::vector<CausalConv1dProblem> problems;
  for (const auto d : D)
    for (const auto w : W) {
      CausalConv1dProblem problem;
      problem.B = B;
      problem.T = T;
      problem.D = d;
      problem.W = w;
      problem.x_type = x_type;
      problem.weight_type = weight_type;
      problems.push_back(problem);
    }
  return warmup(problems, options);
}

std::size_t CausalConv1d::backward_workspace_bytes(const CausalConv1dProblem& problem) {
  require_supported(problem);
  return ops::workspace_bytes(ops::make_shape(problem));
}

void CausalConv1d::forward(const CausalConv1dProblem& problem, const CausalConv1dForward& t, Stream stream) {
  CausalConv1dProblem aligned = problem;
  aligned.alignment = ops::alignment_of({t.x, t.weight, t.bias, t.y, t.residual});
  impl_->plan<ops::ForwardPlanOnKernels>(impl_->forward, aligned, stream)->launch(t, stream);
}

void CausalConv1d::backward(const CausalConv1dProblem& problem, const CausalConv1dBackward& t, Stream stream) {
  CausalConv1dProblem aligned = problem;
  aligned.alignment = ops::alignment_of({t.x, t.weight, t.bias, t.dy, t.dx});
  impl_->plan<ops::BackwardPlanOnKernels>(impl_->backward, aligned, stream)->launch(t, stream);
}

std::shared_ptr<const CausalConv1d::ForwardPlan> CausalConv1d::plan_forward(const CausalConv1dProblem& problem, Stream stream) {
  return impl_->make<ops::ForwardPlanOnKernels>(impl_->forward, problem, stream, true);
}

std::shared_ptr<const CausalConv1d::BackwardPlan> CausalConv1d::plan_backward(const CausalConv1dProblem& problem, Stream stream) {
  return impl_->make<ops::BackwardPlanOnKernels>(impl_->backward, problem, stream, true);
}

}  // namespace strop
