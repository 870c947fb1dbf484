#include "tests/support/candidates.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

#include <fmt/format.h>

#include "src/engine/checker.h"
#include "strop/error.h"
#include "tuner/check.h"

namespace strop::test {

void CandidateBench::compile_ahead(const std::vector<jit::CompileRequest>& requests) {
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  const auto work = [&] {
    for (std::size_t i = next++; i < requests.size(); i = next++) {
      const auto code = jit::code_identity(requests[i]).digest();
      {
        const std::lock_guard lock(mutex);
        if (binaries_.contains(code)) continue;
      }
      try {
        auto binary = toolchain_.compile(requests[i]);
        const std::lock_guard lock(mutex);
        binaries_.emplace(code, std::move(binary));
      } catch (const CompileError&) {
        // Thrown again where the candidate is judged.
      }
    }
  };
  std::vector<std::jthread> threads;
  for (unsigned i = 1; i < std::max(1U, std::thread::hardware_concurrency()); ++i) threads.emplace_back(work);
  work();
}

const jit::Binary& CandidateBench::compiled(const jit::CompileRequest& request) {
  const auto code = jit::code_identity(request).digest();
  const auto at = binaries_.find(code);
  if (at != binaries_.end()) return at->second;
  return binaries_.emplace(code, toolchain_.compile(request)).first->second;
}

std::shared_ptr<device::LoadedKernel> CandidateBench::load(const Kernel& kernel, const KernelProblem& problem, const Config& config) {
  const auto& binary = compiled({&kernel.source, problem.constants(), kernel.space.compiled_part(config), device_.facts().arch});
  return device_.load(binary.bytes, binary.entry, problem.geometry(config).dynamic_shared);
}

std::vector<Judged> CandidateBench::judge(const Kernel& kernel, const std::function<std::unique_ptr<KernelProblem>()>& make, std::size_t every) {
  const auto problem = make();
  const auto constants = problem->constants();
  std::vector<Config> configs;
  const auto all = kernel.space.configs(constants, device_.facts());
  for (std::size_t i = 0; i < all.size(); i += every) configs.push_back(all[i]);
  std::vector<jit::CompileRequest> requests;
  for (const auto& config : configs) requests.push_back({&kernel.source, constants, kernel.space.compiled_part(config), device_.facts().arch});
  compile_ahead(requests);

  engine::Checker checker(device_, make());
  std::vector<Judged> judged;
  for (const auto& config : configs) {
    try {
      const auto finding = checker.check(*load(kernel, *problem, config), config);
      judged.push_back({config, finding.verdict, finding.detail});
    } catch (const CompileError& error) {
      judged.push_back({config, Verdict::does_not_compile, error.what()});
    }
  }
  return judged;
}

void CandidateBench::run(const Kernel& kernel, const KernelProblem& problem, const Config& config, std::span<void* const> pointers) {
  const auto loaded = load(kernel, problem, config);
  const auto arguments = problem.arguments(config, pointers);
  device_.launch(*loaded, problem.geometry(config), arguments.data(), arguments.size(), nullptr);
  device_.synchronize(nullptr);
}

std::vector<std::byte> CandidateBench::output(const Kernel& kernel, const KernelProblem& problem, const Config& config, std::size_t tensor) {
  std::vector<device::Buffer> buffers;
  std::vector<void*> pointers;
  const auto tensors = problem.tensors();
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const auto bytes = static_cast<std::size_t>(tensors[i].elements) * size_of(tensors[i].type);
    buffers.emplace_back(device_, bytes + 256);
    pointers.push_back(static_cast<std::byte*>(buffers.back().data()) + tensors[i].misalign);
    if (tensors[i].role != Role::input) continue;
    const auto contents = tuner::make_input(tensors[i], 11 + i);
    device_.upload(pointers.back(), contents.data(), contents.size());
  }
  run(kernel, problem, config, pointers);
  std::vector<std::byte> bytes(static_cast<std::size_t>(tensors[tensor].elements) * size_of(tensors[tensor].type));
  device_.download(bytes.data(), pointers[tensor], bytes.size());
  return bytes;
}

std::string CandidateBench::disagreeing(const Kernel& kernel, const KernelProblem& problem, std::size_t tensor) {
  const auto configs = kernel.space.configs(problem.constants(), device_.facts());
  std::vector<jit::CompileRequest> requests;
  for (const auto& config : configs) requests.push_back({&kernel.source, problem.constants(), kernel.space.compiled_part(config), device_.facts().arch});
  compile_ahead(requests);
  const auto first = output(kernel, problem, configs.front(), tensor);
  std::string text;
  for (const auto& config : configs)
    if (output(kernel, problem, config, tensor) != first) text += config.str() + '\n';
  return text;
}

std::string failures(const std::vector<Judged>& judged) {
  std::string text;
  for (const auto& one : judged)
    if (one.verdict != Verdict::ok) text += fmt::format("{} {}: {}\n", one.config.str(), name(one.verdict), one.detail);
  return text;
}

}  // namespace strop::test
