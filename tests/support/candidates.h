#pragma once

// Judges every candidate of a kernel on one problem exactly as given (not its check problem): compiled, loaded, checked against the
// fp64 reference with poison, guard zones and two equal runs. Compiles on all cores; equal code once a process.

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "jit/toolchain.h"
#include "src/device/device.h"
#include "strop/kernel.h"
#include "strop/trial.h"

namespace strop::test {

struct Judged {
  Config config;
  Verdict verdict = Verdict::ok;
  std::string detail;
};

class CandidateBench {
 public:
  // `device` and `toolchain` belong together and outlive the bench.
  CandidateBench(device::Device& device, jit::Toolchain& toolchain) : device_(device), toolchain_(toolchain) {}

  // `every`: judges the default and each every-th of the others.
  std::vector<Judged> judge(const Kernel& kernel, const std::function<std::unique_ptr<KernelProblem>()>& problem, std::size_t every = 1);
  // Tensor `tensor` of the problem after one run of a config on seeded inputs.
  std::vector<std::byte> output(const Kernel& kernel, const KernelProblem& problem, const Config& config, std::size_t tensor);
  // The configs whose tensor differs in any bit from the first's, one a line; empty when all agree.
  std::string disagreeing(const Kernel& kernel, const KernelProblem& problem, std::size_t tensor);
  // Runs one config once on `pointers` (device memory, in the order of the problem's tensors).
  void run(const Kernel& kernel, const KernelProblem& problem, const Config& config, std::span<void* const> pointers);

 private:
  std::shared_ptr<device::LoadedKernel> load(const Kernel& kernel, const KernelProblem& problem, const Config& config);
  const jit::Binary& compiled(const jit::CompileRequest& request);
  void compile_ahead(const std::vector<jit::CompileRequest>& requests);

  device::Device& device_;
  jit::Toolchain& toolchain_;
  std::map<std::string, jit::Binary> binaries_;  // by code digest
};

// The failures among `judged`, one a line; empty when all are ok.
std::string failures(const std::vector<Judged>& judged);

}  // namespace strop::test
