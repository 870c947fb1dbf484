// Template + constants + target -> cubin, by NVRTC.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>

#include "jit/nvrtc/elf.h"
#include "jit/nvrtc/locale_guard.h"
#include "jit/nvrtc/nvrtc_library.h"
#include "jit/nvrtc/program.h"
#include "jit/nvrtc/ptxas_log.h"
#include "jit/source.h"
#include "jit/toolchain.h"
#include "src/base/settings.h"
#include "strop/error.h"

namespace strop::jit {
namespace {

using Clock = std::chrono::steady_clock;

// nvrtcVersion does not tell 12.6.1 from 12.6.2.
bool changes_locale(const NvrtcLibrary& library) {
  return library.major < 12 || (library.major == 12 && library.minor <= 6);
}

// What ptxas says, and where it is silent what the cubin says of itself (which has no spills).
Resources resources_of(const Binary& binary) {
  Resources resources = parse_ptxas(binary.log, binary.entry);
  const auto facts = read_cubin(binary.bytes, binary.entry, binary.target);
  if (resources.registers < 0) resources.registers = facts.registers.value_or(-1);
  if (resources.stack_bytes < 0) resources.stack_bytes = facts.stack_bytes.value_or(-1);
  if (resources.static_shared < 0) resources.static_shared = facts.static_shared.value_or(-1);
  return resources;
}

class NvrtcToolchain : public Toolchain {
 public:
  explicit NvrtcToolchain(NvrtcOptions options) : options_(std::move(options)) {}

  const Compiler& compiler() override { return library().compiler; }
  Binary compile(const CompileRequest& request) override;

 private:
  const NvrtcLibrary& library();
  void require_target(const std::string& target);

  NvrtcOptions options_;
  std::mutex mutex_;
  std::unique_ptr<NvrtcLibrary> library_;
  std::atomic<const NvrtcLibrary*> open_{nullptr};
};

// A failure is not remembered: the next call looks again.
const NvrtcLibrary& NvrtcToolchain::library() {
  if (const auto* open = open_.load(std::memory_order_acquire)) return *open;
  const std::lock_guard lock(mutex_);
  if (!library_) {
    const bool option = !options_.library.empty();
    library_ = open_nvrtc(option ? options_.library : settings::text("nvrtc").value_or(""),
                          option ? "option" : "setting STROP_NVRTC");
    open_.store(library_.get(), std::memory_order_release);
  }
  return *library_;
}

void NvrtcToolchain::require_target(const std::string& target) {
  const auto& compiler = library().compiler;
  std::string plain = target;
  if (!plain.empty() && (plain.back() == 'a' || plain.back() == 'f')) plain.pop_back();
  if (std::find(compiler.targets.begin(), compiler.targets.end(), plain) != compiler.targets.end()) return;
  // Of this compiler, not of the kernel: no candidate is to be blamed.
  throw Error(fmt::format("NVRTC {} at {} ({}) can't compile for {}: it knows {}; install a newer NVRTC or name one in STROP_NVRTC",
                          compiler.version, compiler.path, compiler.rule, target, fmt::join(compiler.targets, ", ")));
}

Binary NvrtcToolchain::compile(const CompileRequest& request) {
  const auto& nvrtc = library();
  require_target(request.target);
  const auto source = generate_source(request, false);
  const auto headers = reachable_sources(*request.kernel, false);
  auto options = cuda_options(request.target);
  // NVRTC 13 answers a source it has seen from the driver's cache, without the log that the resources are read from.
  if (nvrtc.major >= 13) options.emplace_back("--no-cache");

  const auto begin = Clock::now();
  const LocaleGuard locale(changes_locale(nvrtc));
  Program program(nvrtc, source, headers);
  const bool compiled = program.compile(options, options_.timeout_s);
  const auto log = program.log();
  Binary binary;
  if (compiled) binary.bytes = program.cubin();
  else if (!program.source_at_fault())
    throw Error(fmt::format("NVRTC {} at {} could not compile {} {}: {}; this says nothing about the kernel, and is not remembered\n{}",
                            nvrtc.compiler.version, nvrtc.compiler.path, request.kernel->name, request.config.str(), program.why(), log));
  if (binary.bytes.empty())
    throw CompileError(
        fmt::format("kernel {} {} for {} does not compile: {} (NVRTC {} at {})\n{}", request.kernel->name,
                    request.config.str(), request.target, compiled ? "NVRTC gave no cubin" : program.why(),
                    nvrtc.compiler.version, nvrtc.compiler.path, log),
        log, fmt::format("{}", fmt::join(options, " ")), source, nvrtc.compiler.identity());
  binary.compile_ms = std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
  binary.entry = entry_name(request.kernel->name);
  binary.target = request.target;
  binary.code = code_identity(request).digest();
  binary.compiler = nvrtc.compiler.identity();
  binary.log = log;
  binary.resources = resources_of(binary);
  return binary;
}

}  // namespace

std::unique_ptr<Toolchain> make_nvrtc(const NvrtcOptions& options) { return std::make_unique<NvrtcToolchain>(options); }

}  // namespace strop::jit
