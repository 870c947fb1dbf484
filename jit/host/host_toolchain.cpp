// Template + constants -> shared object for the host device, by the system's C++ compiler.

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "jit/host/process.h"
#include "jit/host/temporary_folder.h"
#include "jit/toolchain.h"
#include "src/base/digest.h"
#include "src/base/settings.h"
#include "strop/error.h"

namespace strop::jit {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// -O1: the host device is for correctness. No contraction and no aliasing games, so that results are those of the source.
constexpr std::array<const char*, 9> kFlags{"-std=c++17",           "-O1",  "-fPIC", "-shared", "-fvisibility=hidden", "-fno-strict-aliasing",
                                            "-ffp-contract=off", "-Wno-unknown-pragmas", "-w"};

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void write_file(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw Error(fmt::format("{} could not be written: is the disk full?", path.string()));
}

// "12.2.0" of "g++ (Debian 12.2.0-14) 12.2.0": the last word of the first line that begins with a digit.
std::string version_in(const std::string& text) {
  const auto line = text.substr(0, text.find('\n'));
  std::string version = "unknown";
  std::size_t at = 0;
  while (at < line.size()) {
    const auto end = std::min(line.find(' ', at), line.size());
    if (end > at && line[at] >= '0' && line[at] <= '9') version = line.substr(at, end - at);
    at = end + 1;
  }
  return version;
}

class HostToolchain : public Toolchain {
 public:
  explicit HostToolchain(HostToolchainOptions options) : options_(std::move(options)) {}

  const Compiler& compiler() override;
  Binary compile(const CompileRequest& request) override;

 private:
  std::optional<Compiler> probe(const std::string& command, const std::string& rule, std::string& why);
  std::vector<std::string> arguments() const;

  HostToolchainOptions options_;
  std::mutex mutex_;
  std::optional<Compiler> compiler_;
};

std::optional<Compiler> HostToolchain::probe(const std::string& command, const std::string& rule, std::string& why) {
  const TemporaryFolder folder;
  const auto output = folder.path() + "/version";
  const auto result = run_process({command, "--version"}, output, 20);
  if (!result.started || result.exit_code != 0) {
    why += fmt::format("{}{} ({}): {}", why.empty() ? "" : "; ", command, rule,
                       result.started ? fmt::format("exit code {}", result.exit_code) : result.error);
    return std::nullopt;
  }
  const auto text = read_file(output);
  Compiler compiler;
  compiler.name = text.find("clang") != std::string::npos ? "clang++" : "g++";
  compiler.version = version_in(text);
  compiler.build_id = Ingredients().add("version", text).add("flags", fmt::format("{}", fmt::join(arguments(), " "))).digest();
  compiler.path = command;
  compiler.rule = rule;
  compiler.targets = {"x86_64"};
  return compiler;
}

std::vector<std::string> HostToolchain::arguments() const {
  std::vector<std::string> all(kFlags.begin(), kFlags.end());
  all.insert(all.end(), options_.flags.begin(), options_.flags.end());
  return all;
}

const Compiler& HostToolchain::compiler() {
  const std::lock_guard lock(mutex_);
  if (compiler_) return *compiler_;
  std::string why;
  const auto wanted = options_.compiler.empty() ? settings::text("cxx").value_or("") : options_.compiler;
  if (!wanted.empty()) {
    compiler_ = probe(wanted, options_.compiler.empty() ? "setting STROP_CXX" : "option", why);
  } else {
    for (const char* command : {"c++", "g++", "clang++"})
      if (!compiler_) compiler_ = probe(command, "PATH", why);
  }
  if (!compiler_)
    throw CompileError(fmt::format("no C++ compiler for the host device: {}; install g++ or name one in STROP_CXX", why), "", "", "", "");
  return *compiler_;
}

Binary HostToolchain::compile(const CompileRequest& request) {
  const auto& found = compiler();
  const auto begin = Clock::now();
  const auto source = generate_source(request, true);
  const TemporaryFolder folder;
  const fs::path root = folder.path();
  write_file(root / "strop.cpp", source);
  for (const auto& [name, text] : reachable_sources(*request.kernel, true)) {
    if (name.starts_with('/') || name.find("..") != std::string::npos)
      throw CompileError(fmt::format("kernel {}: source name '{}' leaves its folder", request.kernel->name, name), "", "", "", "");
    write_file(root / name, text);
  }
  std::vector<std::string> command{found.path};
  for (auto& argument : arguments()) command.push_back(std::move(argument));
  if (found.name == "g++") command.emplace_back("-fno-gnu-unique");
  // Places in reports and debug information are template names, not of a folder that is gone.
  command.push_back(fmt::format("-ffile-prefix-map={}/=", root.string()));
  for (const auto& argument : {std::string("-I"), root.string(), (root / "strop.cpp").string(), std::string("-o"), (root / "strop.so").string()})
    command.push_back(argument);

  const auto result = run_process(command, root / "log", options_.timeout_s);
  const auto log = read_file(root / "log");
  if (!result.started || result.timed_out || result.exit_code != 0) {
    const auto why = !result.started    ? result.error
                     : result.timed_out ? fmt::format("took longer than {} s and was stopped", options_.timeout_s)
                                        : fmt::format("exit code {}", result.exit_code);
    throw CompileError(fmt::format("kernel {} {} does not compile on the host: {} ({})\n{}", request.kernel->name, request.config.str(), why,
                                   found.path, log),
                       log, fmt::format("{}", fmt::join(command, " ")), source, found.identity());
  }
  Binary binary;
  binary.bytes = read_file(root / "strop.so");
  binary.entry = "strop_entry";
  binary.target = request.target;
  binary.code = code_identity(request).digest();
  binary.compiler = found.identity();
  binary.log = log;
  binary.compile_ms = std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
  return binary;
}

}  // namespace

std::unique_ptr<Toolchain> make_host(const HostToolchainOptions& options) { return std::make_unique<HostToolchain>(options); }

}  // namespace strop::jit
