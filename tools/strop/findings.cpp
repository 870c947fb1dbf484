#include "tools/strop/findings.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "src/base/settings.h"
#include "tools/strop/entries.h"
#include "tools/strop/machine.h"

namespace strop::cli {
namespace {

CompilerFinding examine_compiler(std::string what, jit::Toolchain& toolchain) {
  CompilerFinding finding{std::move(what), std::nullopt, {}};
  try {
    finding.compiler = toolchain.compiler();
  } catch (const std::exception& error) {
    finding.reason = error.what();
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

void advise(Findings& findings) {
  auto& advice = findings.advice;
  for (const auto& problem : settings::problems()) advice.push_back("settings: " + problem);
  if (findings.driver.status != device::CudaStatus::ok) advice.push_back("GPU: " + findings.driver.reason);
  if (findings.has_gpu() && !findings.nvrtc.compiler) advice.push_back("NVRTC: " + findings.nvrtc.reason);
  for (const auto& device : findings.devices) {
    if (device.kind != DeviceKind::cuda || !findings.nvrtc.compiler) continue;
    const auto& targets = findings.nvrtc.compiler->targets;
    if (std::find(targets.begin(), targets.end(), device.arch) == targets.end())
      advice.push_back(fmt::format("NVRTC {} does not know {} of {}: install a newer one, or name it with STROP_NVRTC",
                                   findings.nvrtc.compiler->version, device.arch, device.name));
  }
  if (!findings.has_gpu() && !findings.host_compiler.compiler)
    advice.push_back("host device: " + findings.host_compiler.reason);
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

bool Findings::usable() const { return has_gpu() ? nvrtc.compiler.has_value() : host_compiler.compiler.has_value(); }

Findings examine(const Session& session) {
  Findings findings;
  findings.driver = device::probe_cuda();
  Machine machine;
  findings.devices = machine.cuda();
  findings.devices.insert(findings.devices.end(), machine.host().begin(), machine.host().end());
  findings.nvrtc = examine_compiler("nvrtc", *jit::make_nvrtc());
  findings.host_compiler = examine_compiler("host", *jit::make_host());
  findings.cache = examine_cache(session);
  advise(findings);
  return findings;
}

}  // namespace strop::cli
