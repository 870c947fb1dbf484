#include "tests/host/problem_run.h"

#include <cstring>

#include "jit/toolchain.h"
#include "tuner/check.h"

namespace strop::host_test {
namespace {

// The problem's buffers on the device, each beginning where its alignment class says.
class Buffers {
 public:
  Buffers(device::Device& device, const std::vector<TensorSpec>& specs) : device_(device), specs_(specs) {
    for (std::size_t i = 0; i < specs_.size(); ++i) {
      const TensorSpec& spec = specs_[i];
      memory_.emplace_back(device, bytes(i) + spec.misalign);
      pointers_.push_back(static_cast<std::byte*>(memory_.back().data()) + spec.misalign);
      device.fill(pointers_.back(), tuner::kPoisonByte, bytes(i));
      inputs_.emplace_back();
      if (spec.role != Role::input) continue;
      const std::vector<std::byte> contents = tuner::make_input(spec, i);
      device.upload(pointers_.back(), contents.data(), contents.size());
      inputs_.back() = tuner::decode_all(spec.type, contents);
    }
  }
  const std::vector<void*>& pointers() const { return pointers_; }

  std::optional<std::string> compare(const KernelProblem& problem) const {
    std::vector<std::vector<double>> reference(specs_.size());
    for (std::size_t i = 0; i < specs_.size(); ++i)
      if (specs_[i].role == Role::output)
        reference[i].assign(static_cast<std::size_t>(specs_[i].elements), untouched());
    problem.reference(inputs_, reference);
    for (std::size_t i = 0; i < specs_.size(); ++i) {
      if (specs_[i].role != Role::output) continue;
      std::vector<std::byte> got(bytes(i));
      device_.download(got.data(), pointers_[i], got.size());
      if (auto difference = tuner::compare(specs_[i], got, reference[i])) return difference;
    }
    return std::nullopt;
  }

 private:
  std::size_t bytes(std::size_t i) const {
    return static_cast<std::size_t>(specs_[i].elements) * size_of(specs_[i].type);
  }

  device::Device& device_;
  const std::vector<TensorSpec> specs_;
  std::vector<device::Buffer> memory_;
  std::vector<void*> pointers_;
  std::vector<std::vector<double>> inputs_;
};

}  // namespace

std::optional<std::string> run_problem(device::Device& device, const KernelTemplate& kernel,
                                       const KernelProblem& problem, const Config& config,
                                       const std::vector<std::string>& flags) {
  const auto binary =
      jit::make_host({.flags = flags})
          ->compile(
              {.kernel = &kernel, .constants = problem.constants(), .config = config, .target = device.facts().arch});
  const LaunchGeometry geometry = problem.geometry(config);
  const auto loaded = device.load(binary.bytes, binary.entry, geometry.dynamic_shared);
  const Buffers buffers(device, problem.tensors());
  const std::vector<std::byte> arguments = problem.arguments(config, buffers.pointers());
  device.launch(*loaded, geometry, arguments.data(), arguments.size(), nullptr);
  device.synchronize(nullptr);
  return buffers.compare(problem);
}

}  // namespace strop::host_test
