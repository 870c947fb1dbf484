// Template + constants + target -> cubin, by NVRTC.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <clocale>
#include <mutex>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "jit/nvrtc/elf.h"
#include "jit/nvrtc/nvrtc_library.h"
#include "jit/nvrtc/ptxas_log.h"
#include "jit/toolchain.h"
#include "src/base/settings.h"
#include "strop/error.h"

namespace strop::jit {
namespace {

using Clock = std::chrono::steady_clock;
constexpr const char* kEntry = "strop_entry";

// NVRTC before 12.6.2 sets the process's locale; a decimal comma in the next generated constant would compile and be wrong.
class LocaleGuard {
 public:
  explicit LocaleGuard(const NvrtcLibrary& library) : needed_(library.major < 12 || (library.major == 12 && library.minor <= 6)) {
    if (needed_) saved_ = std::setlocale(LC_ALL, nullptr);
  }
  ~LocaleGuard() {
    if (needed_) std::setlocale(LC_ALL, saved_.c_str());
  }
  LocaleGuard(const LocaleGuard&) = delete;
  LocaleGuard& operator=(const LocaleGuard&) = delete;

 private:
  bool needed_;
  std::string saved_;
};

class Program {
 public:
  Program(const NvrtcLibrary& library, const std::string& source, const std::map<std::string, std::string>& headers) : library_(library) {
    std::vector<const char*> texts;
    std::vector<const char*> names;
    for (const auto& [name, text] : headers) {
      names.push_back(name.c_str());
      texts.push_back(text.c_str());
    }
    result_ = library.create_program(&program_, source.c_str(), "strop.cu", static_cast<int>(names.size()), texts.data(), names.data());
  }
  ~Program() {
    if (program_ != nullptr) library_.destroy_program(&program_);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  nvrtcProgram get() const { return program_; }
  nvrtcResult result() const { return result_; }
  std::string log() const {
    std::size_t size = 0;
    if (program_ == nullptr || library_.log_size(program_, &size) != NVRTC_SUCCESS || size <= 1) return {};
    std::string text(size, '\0');
    library_.log(program_, text.data());
    text.resize(size - 1);
    return text;
  }
  std::string cubin() const {
    std::size_t size = 0;
    if (library_.cubin_size(program_, &size) != NVRTC_SUCCESS) return {};
    std::string bytes(size, '\0');
    if (library_.cubin(program_, bytes.data()) != NVRTC_SUCCESS) return {};
    return bytes;
  }

 private:
  const NvrtcLibrary& library_;
  nvrtcProgram program_ = nullptr;
  nvrtcResult result_ = NVRTC_SUCCESS;
};

struct Deadline {
  Clock::time_point at;
  bool passed = false;
};

// Called by NVRTC now and then during a compile; anything but 0 cancels it.
int flow(void* payload, void*) {
  auto& deadline = *static_cast<Deadline*>(payload);
  deadline.passed = Clock::now() > deadline.at;
  return deadline.passed ? 1 : 0;
}

Resources resources_of(const std::string& log, const std::string& cubin) {
  Resources resources = parse_ptxas(log);
  const auto facts = read_cubin(cubin, kEntry);
  if (resources.registers < 0 && facts.registers) resources.registers = *facts.registers;
  if (resources.stack_bytes < 0 && facts.stack_bytes) resources.stack_bytes = *facts.stack_bytes;
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

const NvrtcLibrary& NvrtcToolchain::library() {
  if (const auto* open = open_.load(std::memory_order_acquire)) return *open;
  const std::lock_guard lock(mutex_);
  if (!library_) {
    library_ = open_nvrtc(options_.library.empty() ? settings::text("nvrtc").value_or("") : options_.library);
    open_.store(library_.get(), std::memory_order_release);
  }
  return *library_;
}

void NvrtcToolchain::require_target(const std::string& target) {
  const auto& compiler = library().compiler;
  std::string plain = target;
  if (!plain.empty() && (plain.back() == 'a' || plain.back() == 'f')) plain.pop_back();
  if (std::find(compiler.targets.begin(), compiler.targets.end(), plain) != compiler.targets.end()) return;
  throw CompileError(fmt::format("NVRTC {} at {} ({}) can't compile for {}: it knows {}; install a newer NVRTC or name one in STROP_NVRTC",
                                 compiler.version, compiler.path, compiler.rule, target, fmt::join(compiler.targets, ", ")),
                     "", "", "", compiler.identity());
}

Binary NvrtcToolchain::compile(const CompileRequest& request) {
  const auto& nvrtc = library();
  require_target(request.target);
  const auto source = generate_source(request, false);
  const auto headers = reachable_sources(*request.kernel, false);
  const std::vector<std::string> options{"--gpu-architecture=" + request.target, "--std=c++17", "--ptxas-options=-v"};
  std::vector<const char*> arguments;
  for (const auto& option : options) arguments.push_back(option.c_str());

  const auto begin = Clock::now();
  const LocaleGuard locale(nvrtc);
  const Program program(nvrtc, source, headers);
  Deadline deadline{begin + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options_.timeout_s))};
  nvrtcResult result = program.result();
  if (result == NVRTC_SUCCESS && nvrtc.set_flow_callback != nullptr) nvrtc.set_flow_callback(program.get(), flow, &deadline);
  if (result == NVRTC_SUCCESS) result = nvrtc.compile_program(program.get(), static_cast<int>(arguments.size()), arguments.data());
  const auto log = program.log();
  if (result != NVRTC_SUCCESS) {
    const auto why = deadline.passed ? fmt::format("took longer than {} s and was stopped", options_.timeout_s)
                                     : std::string(nvrtc.error_string(result));
    throw CompileError(fmt::format("kernel {} {} for {} does not compile: {} (NVRTC {} at {})\n{}", request.kernel->name, request.config.str(),
                                   request.target, why, nvrtc.compiler.version, nvrtc.compiler.path, log),
                       log, fmt::format("{}", fmt::join(options, " ")), source, nvrtc.compiler.identity());
  }
  Binary binary;
  binary.bytes = program.cubin();
  binary.compile_ms = std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
  binary.entry = kEntry;
  binary.target = request.target;
  binary.code = code_identity(request).digest();
  binary.compiler = nvrtc.compiler.identity();
  binary.log = log;
  binary.resources = resources_of(log, binary.bytes);
  return binary;
}

}  // namespace

std::unique_ptr<Toolchain> make_nvrtc(const NvrtcOptions& options) { return std::make_unique<NvrtcToolchain>(options); }

}  // namespace strop::jit
