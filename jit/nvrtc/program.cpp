#include "jit/nvrtc/program.h"

#include <fmt/format.h>

#include <chrono>

namespace strop::jit {
namespace {

using Clock = std::chrono::steady_clock;

struct Deadline {
  Clock::time_point at;
  bool passed = false;
};

// Called by NVRTC now and then during a compile; anything but 0 cancels it.
int flow(void* payload, void*) {
  auto& deadline = *static_cast<Deadline*>(payload);
  deadline.passed = deadline.passed || Clock::now() > deadline.at;
  return deadline.passed ? 1 : 0;
}

}  // namespace

Program::Program(const NvrtcLibrary& library, const std::string& source,
                 const std::map<std::string, std::string>& headers)
    : library_(library) {
  std::vector<const char*> texts;
  std::vector<const char*> names;
  for (const auto& [name, text] : headers) {
    names.push_back(name.c_str());
    texts.push_back(text.c_str());
  }
  const auto result = library.create_program(&program_, source.c_str(), "strop-generated.cu",
                                             static_cast<int>(names.size()), texts.data(), names.data());
  if (result != NVRTC_SUCCESS) {
    why_ = library.error_string(result);
    program_ = nullptr;
  }
}

Program::~Program() {
  if (program_ != nullptr) library_.destroy_program(&program_);
}

bool Program::compile(const std::vector<std::string>& options, double timeout_s) {
  if (program_ == nullptr) return false;
  std::vector<const char*> arguments;
  arguments.reserve(options.size());
  for (const auto& option : options) arguments.push_back(option.c_str());
  Deadline deadline{Clock::now() +
                    std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(timeout_s))};
  if (library_.set_flow_callback != nullptr) library_.set_flow_callback(program_, flow, &deadline);
  const auto result = library_.compile_program(program_, static_cast<int>(arguments.size()), arguments.data());
  if (result == NVRTC_SUCCESS) return true;
  // All other answers tell of the machine, the installation or the options (NVRTC_APPEND_FLAGS), and so does the deadline: on a busy
  // machine any source takes long.
  source_at_fault_ = result == NVRTC_ERROR_COMPILATION && !deadline.passed;
  why_ = deadline.passed ? fmt::format("took longer than {} s and was stopped", timeout_s)
                         : std::string(library_.error_string(result));
  if (result == NVRTC_ERROR_BUILTIN_OPERATION_FAILURE)
    why_ += fmt::format(
        " (is libnvrtc-builtins.so.{}.{} the one that came with this NVRTC? Reinstall NVRTC, or name another in "
        "STROP_NVRTC)",
        library_.major, library_.minor);
  return false;
}

std::string Program::log() const {
  std::size_t size = 0;
  if (program_ == nullptr || library_.log_size(program_, &size) != NVRTC_SUCCESS || size <= 1) return {};
  std::string text(size, '\0');
  library_.log(program_, text.data());
  text.resize(size - 1);
  return text;
}

std::string Program::cubin() const {
  std::size_t size = 0;
  if (program_ == nullptr || library_.cubin_size(program_, &size) != NVRTC_SUCCESS) return {};
  std::string bytes(size, '\0');
  if (library_.cubin(program_, bytes.data()) != NVRTC_SUCCESS) return {};
  return bytes;
}

}  // namespace strop::jit
