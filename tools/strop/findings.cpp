#include "tools/strop/findings.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "src/base/settings.h"
#include "src/engine/parts.h"
#include "src/ops/ceilings/stream.h"
#include "tools/strop/entries.h"
#include "tools/strop/machine.h"

namespace strop::cli {
namespace {

// A hanging compiler must not hang the diagnosis for as long as a candidate may take.
constexpr double kTrialTimeoutS = 20;

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

// What failed, and the first that the compiler said to it.
std::string failure_of(const std::exception& error) {
  const std::string text = error.what();
  const auto end = text.find('\n');
  const auto said = end == std::string::npos ? std::string() : first_line(text.substr(end + 1));
  return first_line(text) + (said.empty() ? "" : ": " + said);
}

// Compiles a small kernel: a compiler that says its version may still make nothing (no cc1plus, no room, a wrong file).
jit::Binary try_out(jit::Toolchain& toolchain, const std::string& arch) {
  const auto& kernel = ops::stream_kernel();
  const ops::StreamProblem problem(1, 4096);
  return toolchain.compile({&kernel.source, problem.constants(), kernel.space.compiled_part(kernel.space.fallback()),
                            engine::target_for(kernel, arch)});
}

CompilerFinding examine_nvrtc(const std::vector<DeviceFacts>& gpus) {
  CompilerFinding finding{"nvrtc", std::nullopt, {}};
  jit::NvrtcOptions options;
  options.timeout_s = kTrialTimeoutS;
  try {
    const auto toolchain = jit::make_nvrtc(options);
    finding.compiler = toolchain->compiler();
    const auto& targets = finding.compiler->targets;
    const auto known = std::find_if(gpus.begin(), gpus.end(), [&](const DeviceFacts& facts) {
      return std::find(targets.begin(), targets.end(), facts.arch) != targets.end();
    });
    // Without a GPU that it knows, for one that it does know: --compile-only needs no GPU.
    if (known != gpus.end())
      try_out(*toolchain, known->arch);
    else if (!gpus.empty())
      finding.reason = fmt::format("does not know {} of {}", gpus.front().arch, gpus.front().name);
    else if (!targets.empty())
      try_out(*toolchain, targets.back());
  } catch (const std::exception& error) {
    finding.reason = finding.compiler ? fmt::format("compiles nothing: {}", failure_of(error)) : error.what();
  }
  return finding;
}

CompilerFinding examine_host_compiler() {
  CompilerFinding finding{"host", std::nullopt, {}};
  jit::HostToolchainOptions options;
  options.timeout_s = kTrialTimeoutS;
  try {
    const auto toolchain = jit::make_host(options);
    finding.compiler = toolchain->compiler();
    const auto device = device::open_host();
    const auto binary = try_out(*toolchain, device->facts().arch);
    static_cast<void>(device->load(binary.bytes, binary.entry, 0));
  } catch (const std::exception& error) {
    finding.reason = finding.compiler ? fmt::format("makes nothing that runs: {}", failure_of(error)) : error.what();
  }
  return finding;
}

// The nearest folder that exists can be written: then the database can be made.
bool can_be_made(const std::string& path) {
  std::error_code error;
  auto folder = std::filesystem::path(path).parent_path();
  while (!folder.empty() && folder != folder.parent_path() && !std::filesystem::exists(folder, error))
    folder = folder.parent_path();
  return ::access(folder.empty() ? "." : folder.c_str(), W_OK) == 0;
}

CacheFinding examine_cache(const Session& session) {
  CacheFinding finding;
  try {
    const auto cache = open_cache(session, Access::look);
    finding.place = cache.place;
    finding.exists = cache.exists;
    if (cache.exists) {
      finding.stats = cache.store->stats();
      finding.writable = ::access(cache.place.path.c_str(), W_OK) == 0;
    } else {
      finding.writable = !cache.place.path.empty() && can_be_made(cache.place.path);
    }
  } catch (const std::exception& error) {
    finding.reason = error.what();
  }
  return finding;
}

// Where a warmup runs that names no device.
bool wants_host(const Findings& findings) {
  const auto device = settings::get("device").text;
  return device == "host" || (!device.starts_with("cuda") && !findings.has_gpu());
}

std::string remedy_of(const CompilerFinding& finding, std::string_view setting) {
  if (!finding.compiler) return finding.reason;
  return fmt::format("{} {}; name another with STROP_{}", finding.compiler->path, finding.reason, setting);
}

// STROP_DEVICE may name a GPU that is not here.
bool has_wanted_gpu(const Findings& findings) {
  const auto wanted = settings::get("device").text;
  return std::any_of(findings.devices.begin(), findings.devices.end(), [&](const DeviceFacts& facts) {
    return facts.kind == DeviceKind::cuda && (!wanted.starts_with("cuda:") || device_word(facts) == wanted);
  });
}

void advise(Findings& findings) {
  auto& advice = findings.advice;
  for (const auto& problem : settings::problems()) advice.push_back("settings: " + problem);
  if (findings.driver.status != device::CudaStatus::ok) advice.push_back("GPU: " + findings.driver.reason);
  if (findings.has_gpu() && !findings.nvrtc.works()) advice.push_back("NVRTC: " + remedy_of(findings.nvrtc, "NVRTC"));
  for (const auto& device : findings.devices) {
    if (device.kind != DeviceKind::cuda || !findings.nvrtc.works()) continue;
    const auto& targets = findings.nvrtc.compiler->targets;
    if (std::find(targets.begin(), targets.end(), device.arch) == targets.end())
      advice.push_back(fmt::format("NVRTC {} does not know {} of {}: install a newer one, or name it with STROP_NVRTC",
                                   findings.nvrtc.compiler->version, device.arch, device.name));
  }
  if (wants_host(findings) && !findings.host_compiler.works())
    advice.push_back("host device: " + remedy_of(findings.host_compiler, "CXX"));
  const auto& cache = findings.cache;
  if (!cache.reason.empty())
    advice.push_back("cache: " + cache.reason);
  else if (cache.place.path.empty())
    advice.push_back("cache: nothing is kept between processes (" + cache.place.rule +
                     "); name a file with STROP_CACHE");
  else if (!cache.writable)
    advice.push_back(fmt::format("cache: {} can't be written, so nothing new is remembered", cache.place.path));
  if (cache.place.network)
    advice.push_back(
        "cache: it is on a network file system, where it is slower and less safe; name a local file with STROP_CACHE");
  if (!cache.place.note.empty()) advice.push_back("cache: " + cache.place.note);
}

}  // namespace

bool Findings::has_gpu() const {
  return std::any_of(devices.begin(), devices.end(),
                     [](const DeviceFacts& facts) { return facts.kind == DeviceKind::cuda; });
}

bool Findings::usable() const {
  if (wants_host(*this)) return host_compiler.works();
  return has_wanted_gpu(*this) && nvrtc.works();
}

std::string Findings::fault() const {
  if (const auto problems = settings::problems(); !problems.empty()) return problems.front();
  if (usable()) return {};
  if (wants_host(*this)) return "nothing can be tuned here: " + first_line(remedy_of(host_compiler, "CXX"));
  if (!has_wanted_gpu(*this))
    return fmt::format("STROP_DEVICE={} names a GPU that can't be used here: {}", settings::get("device").text,
                       has_gpu() ? "there are fewer" : driver.reason);
  return "nothing can be tuned here: " + first_line(remedy_of(nvrtc, "NVRTC"));
}

Findings examine(const Session& session) {
  Findings findings;
  findings.driver = device::probe_cuda();
  Machine machine;
  findings.devices = machine.cuda();
  findings.devices.insert(findings.devices.end(), machine.host().begin(), machine.host().end());
  findings.nvrtc = examine_nvrtc(machine.cuda());
  findings.host_compiler = examine_host_compiler();
  findings.cache = examine_cache(session);
  advise(findings);
  return findings;
}

}  // namespace strop::cli
