// Device time of whole calls of causal_conv1d, forward and backward with its reduction, through the public interface, on the shapes and
// layouts of docs/performance-log.md, beside copy (1 read, 1 write) and add (2 reads, 1 write) of the same bytes of x, y, dy and dx. All
// four take turns in one run; buffers rotate past twice the L2. Winners come from an empty cache in memory. Needs a GPU.
//
//   conv_calls [first [last]]   rows by number

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "src/engine/parts.h"
#include "src/ops/ceilings/stream.h"
#include "src/ops/causal_conv1d/common_problem.h"
#include "strop/strop.h"
#include "tuner/check.h"
#include "tuner/measure.h"

namespace {

using namespace strop;

constexpr int kRounds = 7, kBatches = 7;

struct Case {
  const char* name;
  CausalConv1dProblem problem;
};

CausalConv1dProblem shape(std::int64_t B, std::int64_t T, std::int64_t D) {
  CausalConv1dProblem p;
  p.B = B, p.T = T, p.D = D;
  return p;
}

CausalConv1dProblem slice(CausalConv1dProblem p, std::int64_t pitch) {
  p.x_strides = {p.T * pitch, pitch, 1};
  return p;
}

std::vector<Case> cases() {
  std::vector<Case> all{{"dense", shape(16, 8192, 2048)},     {"dense", shape(1, 8192, 2048)},    {"dense", shape(4, 4096, 2048)},
                        {"dense", shape(16, 8192, 4096)},     {"dense", shape(32, 2048, 1024)},   {"dense", shape(8, 512, 2048)},
                        {"dense", shape(1, 2048, 1024)},      {"T ragged", shape(16, 8190, 2048)}, {"fused QKV", slice(shape(16, 8192, 2048), 3 * 2048)}};
  auto fp16 = shape(16, 8192, 2048), weight = fp16, packed = shape(1, 131072, 2048), odd_D = shape(16, 8192, 2047);
  fp16.x_type = DType::fp16;
  weight.weight_type = DType::bf16;
  packed.packed_sequences = 60;
  all.push_back({"fp16", fp16});
  all.push_back({"bf16 weight", weight});
  all.push_back({"packed, 60", packed});
  all.push_back({"odd D", odd_D});
  auto pitch = slice(shape(16, 8192, 2048), 2049);
  pitch.alignment = 4;
  all.push_back({"odd pitch", pitch});
  return all;
}

// One set of buffers of a call.
struct Set {
  std::vector<std::shared_ptr<void>> memory;
  CausalConv1dForward forward;
  CausalConv1dBackward backward;
};

class Calls {
 public:
  Calls(std::shared_ptr<Library> library, const CausalConv1dProblem& problem)
      : library_(std::move(library)), shape_(ops::make_shape(problem)), conv_(library_) {
    conv_.warmup({&problem, 1});
    forward_ = conv_.plan_forward(problem);
    backward_ = conv_.plan_backward(problem);
    const double bytes = 4.0 * static_cast<double>(elements()) * static_cast<double>(size_of(problem.x_type));
    const auto sets = std::max<std::size_t>(1, static_cast<std::size_t>(2.0 * static_cast<double>(library_->device().l2_bytes) / bytes) + 1);
    while (sets_.size() < sets) add_set();
  }

  std::int64_t elements() const { return shape_.problem.B * shape_.problem.T * shape_.problem.D; }
  const CausalConv1d::ForwardPlan& forward() const { return *forward_; }
  const CausalConv1d::BackwardPlan& backward() const { return *backward_; }
  std::function<void(Stream, int)> forward_call() const {
    return [this](Stream stream, int i) { forward_->launch(sets_[static_cast<std::size_t>(i) % sets_.size()].forward, stream); };
  }
  std::function<void(Stream, int)> backward_call() const {
    return [this](Stream stream, int i) { backward_->launch(sets_[static_cast<std::size_t>(i) % sets_.size()].backward, stream); };
  }

 private:
  void* tensor(Set& set, TensorSpec spec) {
    spec.elements = std::max<std::int64_t>(spec.elements, 1);
    const auto pattern = std::min<std::int64_t>(spec.elements, 1 << 20);
    const auto bytes = static_cast<std::size_t>(spec.elements) * size_of(spec.type);
    set.memory.push_back(library_->allocate(bytes + 256));
    auto* data = static_cast<std::byte*>(set.memory.back().get()) + spec.misalign;
    auto part = spec;
    if (spec.values.empty()) part.elements = pattern;
    const auto contents = tuner::make_input(part, 5);
    for (std::size_t at = 0; at < bytes; at += contents.size()) library_->upload(data + at, contents.data(), std::min(contents.size(), bytes - at));
    if (!spec.values.empty()) bounds_ = contents;
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
    dw.misalign = 0;
    b.dw = tensor(set, dw);
    b.workspace_bytes = CausalConv1d::backward_workspace_bytes(p);
    set.memory.push_back(library_->allocate(b.workspace_bytes));
    b.workspace = set.memory.back().get();
    if (p.packed_sequences == 0) return;
    f.cu_seqlens = b.cu_seqlens = tensor(set, ops::bounds_tensor(shape_));
    f.cu_seqlens_host = b.cu_seqlens_host = bounds_.data();
  }

  std::shared_ptr<Library> library_;
  ops::ConvShape shape_;
  CausalConv1d conv_;
  std::shared_ptr<const CausalConv1d::ForwardPlan> forward_;
  std::shared_ptr<const CausalConv1d::BackwardPlan> backward_;
  std::vector<Set> sets_;
  std::vector<std::byte> bounds_;
};

// Copy or add over as many bytes a tensor as x has.
class Ceiling {
 public:
  Ceiling(Library& library, int inputs, std::int64_t bytes) : problem_(inputs, bytes / 16 * 16) {
    kernel_ = library.prepare(ops::stream_kernel(), problem_);
    const auto sets = std::max<std::int64_t>(1, 2 * static_cast<std::int64_t>(library.device().l2_bytes) / (bytes * (inputs + 1)) + 1);
    for (std::int64_t i = 0; i < sets; ++i) {
      std::vector<void*> pointers;
      for (const auto& spec : problem_.tensors()) {
        memory_.push_back(library.allocate(static_cast<std::size_t>(spec.elements) * size_of(spec.type)));
        pointers.push_back(memory_.back().get());
      }
      arguments_.push_back(problem_.arguments(kernel_->config(), pointers));
    }
  }
  std::function<void(Stream, int)> call() const {
    return [this](Stream stream, int i) {
      const auto& bytes = arguments_[static_cast<std::size_t>(i) % arguments_.size()];
      kernel_->launch(bytes.data(), bytes.size(), stream);
    };
  }

 private:
  ops::StreamProblem problem_;
  std::shared_ptr<const PreparedKernel> kernel_;
  std::vector<std::shared_ptr<void>> memory_;
  std::vector<std::vector<std::byte>> arguments_;
};

std::vector<double> in_turns(device::Device& device, const std::vector<std::function<void(Stream, int)>>& calls) {
  std::vector<std::vector<double>> samples(calls.size());
  for (int round = 0; round < kRounds; ++round)
    for (std::size_t i = 0; i < calls.size(); ++i)
      for (const double s : device.time(calls[i], {kBatches, 8})) samples[i].push_back(s * 1e6);
  std::vector<double> medians;
  for (auto& one : samples) medians.push_back(tuner::summarise(std::move(one)).median_us);
  return medians;
}

void report(const std::shared_ptr<Library>& library, const Case& one) {
  const Calls calls(library, one.problem);
  const auto bytes = calls.elements() * static_cast<std::int64_t>(size_of(one.problem.x_type));
  const Ceiling copy(*library, 1, bytes), add(*library, 2, bytes);
  const auto t = in_turns(*engine::parts_of(*library).device, {calls.forward_call(), copy.call(), calls.backward_call(), add.call()});
  std::printf("%-12s %2lld,%6lld,%5lld  fwd %7.1f us %6.3f x copy   bwd %7.1f us %6.3f x add   sum %7.1f us  %s | %s\n", one.name,
              static_cast<long long>(one.problem.B), static_cast<long long>(one.problem.T), static_cast<long long>(one.problem.D), t[0], t[0] / t[1],
              t[2], t[2] / t[3], t[0] + t[2], calls.forward().kernel().config().str().c_str(), calls.backward().main_kernel().config().str().c_str());
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) try {
  const auto all = cases();
  const auto first = static_cast<std::size_t>(argc > 1 ? std::atoi(argv[1]) : 0);
  const auto last = std::min(all.size(), static_cast<std::size_t>(argc > 2 ? std::atoi(argv[2]) + 1 : static_cast<int>(all.size())));
  for (auto i = first; i < last; ++i) {
    // A library a row: its winners and modules go with it.
    report(Library::open({.device = "cuda", .cache_path = ":memory:"}), all[i]);
  }
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "conv_calls: %s\n", error.what());
  return 1;
}
