#include "tests/host/problem_run.h"

#include <algorithm>

#include <fmt/format.h>

#include "jit/toolchain.h"
#include "tuner/check.h"

namespace strop::host_test {
namespace {

std::size_t bytes_of(const TensorSpec& spec) { return static_cast<std::size_t>(spec.elements) * size_of(spec.type); }

}  // namespace

// The problem's buffers on the device, each beginning where its alignment class says. A red zone can't begin within eight bytes, so what
// lies before a misaligned tensor is poison, NaN to who reads it, and looked at afterwards.
class ProblemRun::Buffers {
 public:
  explicit Buffers(const ProblemRun& run) : run_(run) {
    for (std::size_t i = 0; i < run_.specs_.size(); ++i) {
      const TensorSpec& spec = run_.specs_[i];
      memory_.emplace_back(run_.device_, spec.misalign + bytes_of(spec));
      pointers_.push_back(static_cast<std::byte*>(memory_.back().data()) + spec.misalign);
      run_.device_.fill(memory_.back().data(), tuner::kPoisonByte, memory_.back().bytes());
      run_.device_.upload(pointers_.back(), run_.inputs_[i].data(), run_.inputs_[i].size());
    }
  }
  const std::vector<void*>& pointers() const { return pointers_; }

  std::optional<std::string> compare() const {
    for (std::size_t i = 0; i < run_.specs_.size(); ++i) {
      const TensorSpec& spec = run_.specs_[i];
      const std::vector<std::byte> before = download(memory_[i].data(), spec.misalign);
      if (!std::ranges::all_of(before, [](std::byte b) { return b == std::byte{tuner::kPoisonByte}; }))
        return fmt::format("written before {}", spec.name);
      if (spec.role != Role::output) continue;
      if (auto difference = tuner::compare(spec, download(pointers_[i], bytes_of(spec)), run_.reference_[i])) return difference;
    }
    return std::nullopt;
  }

 private:
  std::vector<std::byte> download(const void* from, std::size_t bytes) const {
    std::vector<std::byte> got(bytes);
    run_.device_.download(got.data(), from, bytes);
    return got;
  }

  const ProblemRun& run_;
  std::vector<device::Buffer> memory_;
  std::vector<void*> pointers_;
};

ProblemRun::ProblemRun(device::Device& device, const KernelProblem& problem)
    : device_(device), problem_(problem), specs_(problem.tensors()), inputs_(specs_.size()), reference_(specs_.size()) {
  std::vector<std::vector<double>> decoded(specs_.size());
  for (std::size_t i = 0; i < specs_.size(); ++i) {
    const TensorSpec& spec = specs_[i];
    if (spec.role == Role::output) reference_[i].assign(static_cast<std::size_t>(spec.elements), untouched());
    if (spec.role != Role::input) continue;
    inputs_[i] = tuner::make_input(spec, i);
    decoded[i] = tuner::decode_all(spec.type, inputs_[i]);
  }
  problem.reference(decoded, reference_);
}

std::optional<std::string> ProblemRun::run(const device::LoadedKernel& kernel, const Config& config) const {
  const Buffers buffers(*this);
  const std::vector<std::byte> arguments = problem_.arguments(config, buffers.pointers());
  device_.launch(kernel, problem_.geometry(config), arguments.data(), arguments.size(), nullptr);
  device_.synchronize(nullptr);
  return buffers.compare();
}

std::optional<std::string> run_problem(device::Device& device, const KernelTemplate& kernel,
                                       const KernelProblem& problem, const Config& config,
                                       const std::vector<std::string>& flags) {
  const auto binary =
      jit::make_host({.flags = flags})
          ->compile(
              {.kernel = &kernel, .constants = problem.constants(), .config = config, .target = device.facts().arch});
  const auto loaded = device.load(binary.bytes, binary.entry, problem.geometry(config).dynamic_shared);
  return ProblemRun(device, problem).run(*loaded, config);
}

}  // namespace strop::host_test
