#include "tools/strop/bench_calls.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <span>

#include "src/engine/parts.h"
#include "src/engine/timing_bench.h"
#include "src/ops/causal_conv1d/common_problem.h"
#include "src/ops/causal_conv1d/kernels.h"
#include "src/ops/ceilings/stream.h"
#include "tuner/measure.h"

namespace strop::cli {
namespace {

constexpr int kRounds = 7, kBatches = 7;
constexpr int kHostRounds = 21, kHostCalls = 50;
constexpr std::size_t kAlignment = 256;
constexpr std::uint64_t kSeed = 0x5742'2001;

using Launch = std::function<void(Stream)>;

// One set of buffers of a call.
struct Set {
  std::vector<std::shared_ptr<void>> memory;
  CausalConv1dForward forward;
  CausalConv1dBackward backward;
};

class Calls {
 public:
  Calls(const std::shared_ptr<Library>& library, const CausalConv1dProblem& problem)
      : library_(*library), shape_(ops::make_shape(problem)), conv_(library) {
    forward_ = conv_.plan_forward(problem);
    backward_ = conv_.plan_backward(problem);
    // The forward's two tensors alone have to be more than the cache holds.
    const auto sets = engine::cold_sets(library_.device(), 2 * tensor_bytes());
    while (sets_.size() < sets) add_set();
  }

  double tensor_bytes() const {
    const auto& p = shape_.problem;
    return static_cast<double>(p.B * p.T * p.D) * static_cast<double>(size_of(p.x_type));
  }
  double weight_bytes() const {
    const auto& p = shape_.problem;
    return static_cast<double>(p.D * (p.W + (p.bias ? 1 : 0))) * static_cast<double>(size_of(p.weight_type));
  }
  // Of all sequences' initial states, or final ones.
  double state_bytes() const {
    const auto& p = shape_.problem;
    return static_cast<double>(shape_.sequences() * p.D * p.W) * static_cast<double>(size_of(p.x_type));
  }
  double forward_bytes() const {
    const auto& p = shape_.problem;
    return (p.residual ? 3 : 2) * tensor_bytes() + weight_bytes() +
           ((p.initial_state ? 1 : 0) + (p.final_state ? 1 : 0)) * state_bytes();
  }
  // The gradient of a residual is dy itself.
  double backward_bytes() const {
    const auto& p = shape_.problem;
    return 3 * tensor_bytes() + 2 * weight_bytes() +
           ((p.initial_state ? 2 : 0) + (p.final_state ? 1 : 0)) * state_bytes();
  }
  Launch forward_plan() {
    return [this](Stream stream) { forward_->launch(next().forward, stream); };
  }
  Launch backward_plan() {
    return [this](Stream stream) { backward_->launch(next().backward, stream); };
  }
  // As a training step calls it, the lookup included.
  Launch forward_call() {
    return [this](Stream stream) { conv_.forward(shape_.problem, next().forward, stream); };
  }
  Launch backward_call() {
    return [this](Stream stream) { conv_.backward(shape_.problem, next().backward, stream); };
  }
  std::vector<std::pair<std::string, Config>> forward_configs() const {
    return {{ops::conv_fwd_kernel().source.name, forward_->kernel().config()}};
  }
  std::vector<std::pair<std::string, Config>> backward_configs() const {
    return {{ops::conv_bwd_kernel().source.name, backward_->main_kernel().config()},
            {ops::conv_dw_reduce_kernel().source.name, backward_->reduce_kernel().config()}};
  }

 private:
  const Set& next() {
    next_ = (next_ + 1) % sets_.size();
    return sets_[next_];
  }

  void* tensor(Set& set, TensorSpec spec) {
    spec.elements = std::max<std::int64_t>(spec.elements, 1);
    set.memory.push_back(library_.allocate(static_cast<std::size_t>(spec.elements) * size_of(spec.type) + kAlignment));
    auto* data = static_cast<std::byte*>(set.memory.back().get()) + spec.misalign;
    if (spec.role == Role::input)
      engine::fill_input(*engine::parts_of(library_).device, data, spec, kSeed + set.memory.size());
    return data;
  }

  void add_set() {
    auto& set = sets_.emplace_back();
    const auto& p = shape_.problem;
    auto& f = set.forward;
    auto& b = set.backward;
    f.x = b.x = tensor(set, ops::row_tensor("x", shape_, shape_.x, Role::input));
    f.weight = b.weight = tensor(set, ops::weight_tensor(shape_));
    f.y = tensor(set, ops::row_tensor("y", shape_, shape_.y, Role::output));
    b.dy = tensor(set, ops::row_tensor("dy", shape_, shape_.dy, Role::input));
    b.dx = tensor(set, ops::row_tensor("dx", shape_, shape_.dx, Role::output));
    auto dw = ops::weight_tensor(shape_);
    dw.role = Role::output;
    dw.misalign = 0;
    b.dw = tensor(set, dw);
    b.workspace_bytes = CausalConv1d::backward_workspace_bytes(p);
    set.memory.push_back(library_.allocate(b.workspace_bytes));
    b.workspace = set.memory.back().get();
    if (p.bias) add_bias(set);
    if (p.residual) f.residual = tensor(set, ops::row_tensor("residual", shape_, shape_.residual, Role::input));
    add_states(set);
    if (p.packed_sequences > 0) add_bounds(set);
  }

  void add_bias(Set& set) {
    auto bias = ops::bias_tensor(shape_);
    set.forward.bias = set.backward.bias = tensor(set, bias);
    bias.role = Role::output;
    bias.misalign = 0;
    set.backward.db = tensor(set, bias);
  }

  void add_states(Set& set) {
    const auto& p = shape_.problem;
    auto& f = set.forward;
    auto& b = set.backward;
    const auto state = [&](const char* name, const ops::StateStrides& strides, Role role) {
      return tensor(set, ops::state_tensor(name, shape_, strides, role, true));
    };
    if (p.initial_state) {
      f.initial_state = b.initial_state = state("initial_state", shape_.initial, Role::input);
      b.d_initial_state = state("d_initial_state", shape_.d_initial, Role::output);
    }
    if (p.final_state) {
      f.final_state = state("final_state", shape_.final, Role::output);
      b.d_final_state = state("d_final_state", shape_.final, Role::input);
    }
  }

  void add_bounds(Set& set) {
    auto& f = set.forward;
    auto& b = set.backward;
    const auto bounds = ops::bounds_tensor(shape_);
    f.cu_seqlens = b.cu_seqlens = tensor(set, bounds);
    bounds_.resize(static_cast<std::size_t>(bounds.elements) * size_of(bounds.type));
    library_.download(bounds_.data(), f.cu_seqlens, bounds_.size());
    f.cu_seqlens_host = b.cu_seqlens_host = bounds_.data();
  }

  Library& library_;
  ops::ConvShape shape_;
  CausalConv1d conv_;
  std::shared_ptr<const CausalConv1d::ForwardPlan> forward_;
  std::shared_ptr<const CausalConv1d::BackwardPlan> backward_;
  std::vector<Set> sets_;
  std::vector<std::byte> bounds_;
  std::size_t next_ = 0;
};

// Copy or add over tensors of so many bytes.
class Ceiling {
 public:
  Ceiling(Library& library, int inputs, double bytes)
      : problem_(inputs, std::max<std::int64_t>(16, static_cast<std::int64_t>(bytes) / 16 * 16)) {
    kernel_ = library.prepare(ops::stream_kernel(), problem_);
    const auto sets = engine::cold_sets(library.device(), problem_.bytes_moved());
    while (arguments_.size() < sets) {
      std::vector<void*> pointers;
      for (const auto& spec : problem_.tensors()) {
        memory_.push_back(library.allocate(static_cast<std::size_t>(spec.elements) * size_of(spec.type)));
        pointers.push_back(memory_.back().get());
        if (spec.role == Role::input)
          engine::fill_input(*engine::parts_of(library).device, pointers.back(), spec, kSeed);
      }
      arguments_.push_back(problem_.arguments(kernel_->config(), pointers));
    }
  }
  Launch launch() {
    return [this](Stream stream) {
      next_ = (next_ + 1) % arguments_.size();
      kernel_->launch(arguments_[next_].data(), arguments_[next_].size(), stream);
    };
  }

 private:
  ops::StreamProblem problem_;
  std::shared_ptr<const PreparedKernel> kernel_;
  std::vector<std::shared_ptr<void>> memory_;
  std::vector<std::vector<std::byte>> arguments_;
  std::size_t next_ = 0;
};

// Device time of each, in rounds in which all take turns, so that a drift of the clocks meets all of them.
std::vector<Measurement> in_turns(device::Device& device, const std::vector<Launch>& launches) {
  const bool host = device.facts().kind == DeviceKind::host;
  std::vector<int> in_a_batch;
  in_a_batch.reserve(launches.size());
  for (const auto& launch : launches)
    in_a_batch.push_back(engine::launches_a_batch(device, [&](Stream stream, int) { launch(stream); }));
  std::vector<std::vector<double>> samples(launches.size());
  for (int round = 0; round < (host ? 3 : kRounds); ++round) {
    for (std::size_t i = 0; i < launches.size(); ++i) {
      const auto times =
          device.time([&](Stream stream, int) { launches[i](stream); }, {host ? 1 : kBatches, in_a_batch[i]});
      for (const double seconds : times) samples[i].push_back(seconds * 1e6);
    }
  }
  std::vector<Measurement> measured;
  measured.reserve(samples.size());
  for (auto& one : samples) measured.push_back(tuner::summarise(std::move(one)));
  return measured;
}

// Time of the calling thread: the queue is empty at the start of a round and never full.
double host_time(device::Device& device, const Launch& call) {
  const bool host = device.facts().kind == DeviceKind::host;
  const int calls = host ? 1 : kHostCalls;
  std::vector<double> samples;
  call(nullptr);
  for (int round = 0; round < (host ? 1 : kHostRounds); ++round) {
    device.synchronize(nullptr);
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; ++i) call(nullptr);
    samples.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count() /
                      calls);
  }
  device.synchronize(nullptr);
  return tuner::summarise(std::move(samples)).median_us;
}

}  // namespace

CallTimes measure_calls(const std::shared_ptr<Library>& library, Library& ceilings,
                        const CausalConv1dProblem& problem) {
  Calls calls(library, problem);
  Ceiling copy(ceilings, 1, calls.tensor_bytes()), add(ceilings, 2, calls.tensor_bytes());
  auto& device = *engine::parts_of(*library).device;
  const auto times = in_turns(device, {calls.forward_plan(), copy.launch(), calls.backward_plan(), add.launch()});
  CallTimes result;
  result.forward = {times[0], times[1], calls.forward_bytes(), host_time(device, calls.forward_call()),
                    calls.forward_configs()};
  result.backward = {times[2], times[3], calls.backward_bytes(), host_time(device, calls.backward_call()),
                     calls.backward_configs()};
  return result;
}

}  // namespace strop::cli
