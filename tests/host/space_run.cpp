#include "tests/host/space_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <exception>
#include <map>
#include <mutex>
#include <thread>

#include "jit/toolchain.h"
#include "strop/error.h"
#include "tests/host/problem_cases.h"
#include "tests/host/problem_run.h"

namespace strop::host_test {
namespace {

constexpr double kTimeoutS = 600;  // on a busy machine the test's own limit is the one that counts

struct Candidate {
  Config config;
  std::string code;  // digest
};

struct Subject {
  std::string name;
  ProblemCase tested;
  std::vector<Candidate> candidates;
};

void edit(KernelTemplate& source, const SourceEdit& wanted) {
  auto& text = source.sources[wanted.file];
  const auto& embedded = jit::embedded_templates();
  if (text.empty() && embedded.contains(wanted.file)) text = embedded.at(wanted.file);
  const auto at = text.find(wanted.before);
  if (at == std::string::npos || text.find(wanted.before, at + 1) != std::string::npos)
    throw Error(fmt::format("'{}' does not stand exactly once in {}", wanted.before, wanted.file));
  text.replace(at, wanted.before.size(), wanted.after);
}

Subject subject_of(const std::string& name, const SpaceRun& request) {
  const auto found = problem_cases().find(name);
  if (found == problem_cases().end()) throw Error(fmt::format("there is no problem '{}'", name));
  Subject subject{name, found->second(), {}};
  for (const auto& one : request.edits) edit(subject.tested.kernel.source, one);
  return subject;
}

std::vector<Config> chosen(const Subject& subject, const SpaceRun& request, const DeviceFacts& facts) {
  const auto& space = subject.tested.kernel.space;
  std::vector<Config> configs;
  std::map<std::vector<std::int64_t>, Config> first;  // of its kind: the part of a config that is compiled in
  for (const auto& config : space.configs(subject.tested.problem->constants(), facts)) {
    const auto& wanted = request.where.entries();
    if (!std::ranges::all_of(wanted, [&](const auto& one) { return config.at(one.first) == one.second; })) continue;
    std::vector<std::int64_t> kind;
    for (const auto& name : request.distinct) kind.push_back(config.at(name));
    const auto compiled = space.compiled_part(config);
    if (kind.empty() || first.emplace(kind, compiled).first->second == compiled) configs.push_back(config);
  }
  if (request.first && configs.size() > 1) configs.erase(configs.begin() + 1, configs.end());
  return configs;
}

// Binaries by code digest.
class Binaries {
 public:
  Binaries(device::Device& device, const std::vector<std::string>& flags)
      : device_(device), toolchain_(jit::make_host({.flags = flags, .timeout_s = kTimeoutS})) {}

  void want(Subject& subject, const std::vector<Config>& configs) {
    const auto& kernel = subject.tested.kernel;
    for (const auto& config : configs) {
      jit::CompileRequest request{&kernel.source, subject.tested.problem->constants(), kernel.space.compiled_part(config),
                                  device_.facts().arch};
      const auto code = jit::code_identity(request).digest();
      subject.candidates.push_back({config, code});
      if (binaries_.try_emplace(code).second) requests_.push_back(std::move(request));
    }
  }

  // On all cores. Throws what the first one that fails throws.
  void compile() {
    std::atomic<std::size_t> next{0};
    std::exception_ptr failed;
    std::mutex mutex;
    const auto work = [&] {
      try {
        for (std::size_t i = next++; i < requests_.size(); i = next++) {
          auto binary = toolchain_->compile(requests_[i]);
          const std::lock_guard lock(mutex);
          binaries_[binary.code] = std::move(binary);
        }
      } catch (...) {
        next = requests_.size();
        const std::lock_guard lock(mutex);
        failed = std::current_exception();
      }
    };
    {
      std::vector<std::jthread> helpers;
      for (unsigned i = 1; i < std::thread::hardware_concurrency(); ++i) helpers.emplace_back(work);
      work();
    }
    if (failed) std::rethrow_exception(failed);
  }

  // Once: a process under a sanitizer never unloads one.
  const device::LoadedKernel& load(const std::string& code, unsigned dynamic_shared) {
    auto& loaded = loaded_[{code, dynamic_shared}];
    const auto& binary = binaries_.at(code);
    if (!loaded) loaded = device_.load(binary.bytes, binary.entry, dynamic_shared);
    return *loaded;
  }
  std::size_t count() const { return binaries_.size(); }

 private:
  device::Device& device_;
  std::unique_ptr<jit::Toolchain> toolchain_;
  std::vector<jit::CompileRequest> requests_;
  std::map<std::string, jit::Binary> binaries_;
  std::map<std::pair<std::string, unsigned>, std::shared_ptr<device::LoadedKernel>> loaded_;
};

// What is wrong, one candidate a line.
std::string run_all(device::Device& device, const Subject& subject, Binaries& binaries) {
  const auto& problem = *subject.tested.problem;
  const ProblemRun run(device, problem);
  std::string wrong;
  for (const auto& [config, code] : subject.candidates) {
    fmt::print("{} {}\n", subject.name, config.str());
    std::fflush(stdout);
    if (const auto what = run.run(binaries.load(code, problem.geometry(config).dynamic_shared), config))
      wrong += fmt::format("{} {}: {}\n", subject.name, config.str(), *what);
  }
  return wrong;
}

}  // namespace

void run_space(device::Device& device, const SpaceRun& request) {
  std::vector<Subject> subjects;
  for (const auto& name : request.problems) subjects.push_back(subject_of(name, request));
  Binaries binaries(device, request.flags);
  std::size_t candidates = 0;
  for (auto& subject : subjects) {
    binaries.want(subject, chosen(subject, request, device.facts()));
    if (subject.candidates.empty()) throw Error(fmt::format("{}: no candidate is like that", subject.name));
    candidates += subject.candidates.size();
  }
  binaries.compile();
  std::string wrong;
  for (const auto& subject : subjects) wrong += run_all(device, subject, binaries);
  if (!wrong.empty()) throw Error(wrong);
  fmt::print("{} candidates, {} binaries\n", candidates, binaries.count());
}

}  // namespace strop::host_test
