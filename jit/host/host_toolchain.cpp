// Template + constants -> shared object for the host device, by the system's C++ compiler.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <optional>
#include <regex>

#include "jit/host/process.h"
#include "jit/host/temporary_folder.h"
#include "jit/source.h"
#include "jit/toolchain.h"
#include "src/base/digest.h"
#include "src/base/settings.h"
#include "strop/error.h"

namespace strop::jit {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr double kVersionTimeoutS = 20;

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void write_file(const fs::path& path, const std::string& text) {
  std::error_code failed;
  fs::create_directories(path.parent_path(), failed);
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (failed || !file) throw Error(fmt::format("{} could not be written: is the disk full?", path.string()));
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

const char* machine() {
#if defined(__aarch64__)
  return "aarch64";
#else
  return "x86_64";
#endif
}

// Runs a compiler in a folder of its own. Its words are English whatever the user's language, as they are part of an
// identity; no variable adds to what it includes or links, chooses its parts, or makes it write elsewhere, as none of that is
// in an identity; what it leaves behind when killed goes with the folder.
ProcessResult run_in(const TemporaryFolder& folder, std::vector<std::string> arguments, double timeout_s) {
  Process process;
  process.arguments = std::move(arguments);
  process.folder = folder.path();
  process.output = folder.path() + "/strop-generated.log";
  process.timeout_s = timeout_s;
  process.environment = {{"LC_ALL", "C"}, {"TMPDIR", folder.path()}};
  for (const char* variable :
       {"CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "DEPENDENCIES_OUTPUT", "SUNPRO_DEPENDENCIES", "GCC_EXEC_PREFIX", "COMPILER_PATH",
        "LIBRARY_PATH", "LD_RUN_PATH", "CCC_OVERRIDE_OPTIONS"})
    process.environment.emplace_back(variable, std::nullopt);
  return run_process(process);
}

std::string why_failed(const ProcessResult& result, double timeout_s) {
  if (!result.started) return result.error;
  if (result.timed_out) return fmt::format("took longer than {} s and was stopped", timeout_s);
  return fmt::format("exit code {}", result.exit_code.value_or(0));
}

// posix_spawnp would find it too, but a message should name the file.
std::string in_path(const std::string& command) {
  if (command.find('/') != std::string::npos) return fs::absolute(command).string();
  const auto path = settings::foreign("PATH").value_or("/usr/local/bin:/usr/bin:/bin");
  for (std::size_t at = 0; at <= path.size();) {
    const auto end = std::min(path.find(':', at), path.size());
    std::error_code ignored;
    const auto file = fs::path(path.substr(at, end - at)) / command;
    if (file.is_absolute() && fs::is_regular_file(file, ignored)) return file.string();
    at = end + 1;
  }
  return command;
}

// Whether a compiler that ended in failure read the source and refused it: a diagnostic with a line of the source, or a name that the
// linker misses. A compiler that was killed, took too long, had no memory or no room to write says nothing about the source: on a busy
// machine any source takes long.
bool source_at_fault(const ProcessResult& result, const std::string& log) {
  if (!result.started || result.timed_out) return false;
  if (result.exit_code && *result.exit_code != 1) return false;  // unknown where SIGCHLD is ignored: the log decides
  if (log.find("undefined reference") != std::string::npos || log.find("undefined symbol") != std::string::npos) return true;
  // "file:12:3: error: ..." or, of a missing include, "file:12:3: fatal error: ...".
  static const std::regex diagnostic(R"(:[0-9]+:[0-9]+: (fatal )?error: )");
  for (auto at = std::sregex_iterator(log.begin(), log.end(), diagnostic); at != std::sregex_iterator(); ++at) {
    const auto line = at->suffix().str().substr(0, at->suffix().str().find('\n'));
    if (line.find("No space left") == std::string::npos && line.find("error writing") == std::string::npos &&
        line.find("out of memory") == std::string::npos)
      return true;
  }
  return false;
}

class HostToolchain : public Toolchain {
 public:
  explicit HostToolchain(HostToolchainOptions options) : options_(std::move(options)) {}

  const Compiler& compiler() override;
  Binary compile(const CompileRequest& request) override;

 private:
  std::optional<Compiler> probe(const std::string& command, const std::string& rule, std::string& why) const;
  std::vector<std::string> arguments(const std::string& compiler_name) const;
  std::vector<std::string> command(const Compiler& found, const TemporaryFolder& folder) const;

  HostToolchainOptions options_;
  std::mutex mutex_;
  std::optional<Compiler> compiler_;
};

std::vector<std::string> HostToolchain::arguments(const std::string& compiler_name) const {
  auto all = host_options();
  // Static objects of templates would become unique in the process, and their library could never be unloaded.
  if (compiler_name == "g++") all.emplace_back("-fno-gnu-unique");
  all.insert(all.end(), options_.flags.begin(), options_.flags.end());
  return all;
}

std::optional<Compiler> HostToolchain::probe(const std::string& command, const std::string& rule,
                                             std::string& why) const {
  const TemporaryFolder folder;
  Compiler compiler;
  compiler.path = in_path(command);
  const auto result = run_in(folder, {compiler.path, "--version"}, kVersionTimeoutS);
  const auto text = read_file(folder.path() + "/strop-generated.log");
  if (result.failed() || text.empty()) {
    why += fmt::format("{}{} ({}): {}", why.empty() ? "" : "; ", command, rule, why_failed(result, kVersionTimeoutS));
    return std::nullopt;
  }
  compiler.name = text.find("clang") != std::string::npos ? "clang++" : "g++";
  compiler.version = version_in(text);
  compiler.build_id = Ingredients()
                          .add("version", text)
                          .add("options", fmt::format("{}", fmt::join(arguments(compiler.name), " ")))
                          .digest();
  compiler.rule = rule;
  compiler.targets = {machine()};
  return compiler;
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
    throw CompileError(
        fmt::format("no C++ compiler for the host device: {}; install g++ or name one in STROP_CXX", why), "", "", "",
        "");
  return *compiler_;
}

std::vector<std::string> HostToolchain::command(const Compiler& found, const TemporaryFolder& folder) const {
  std::vector<std::string> all{found.path};
  for (auto& argument : arguments(found.name)) all.push_back(std::move(argument));
  // Places in reports and debug information are template names, not of a folder that is gone and never had the same
  // name twice.
  all.push_back(fmt::format("-ffile-prefix-map={}=.", folder.path()));
  all.push_back(fmt::format("-ffile-prefix-map={}/=", folder.path()));
  all.push_back("-I" + folder.path());
  for (const char* argument : {"strop-generated.cpp", "-o", "strop.so"}) all.emplace_back(argument);
  return all;
}

Binary HostToolchain::compile(const CompileRequest& request) {
  const auto& found = compiler();
  const auto begin = Clock::now();
  const auto source = generate_source(request, true);
  const auto texts = reachable_sources(*request.kernel, true);
  const TemporaryFolder folder;
  const fs::path root = folder.path();
  for (const auto& [name, text] : texts) write_file(root / name, text);
  write_file(root / "strop-generated.cpp", source);

  const auto arguments = command(found, folder);
  const auto result = run_in(folder, arguments, options_.timeout_s);
  const auto log = read_file(root / "strop-generated.log");
  Binary binary;
  if (!result.failed()) binary.bytes = read_file(root / "strop.so");
  if (binary.bytes.empty() && !source_at_fault(result, log))
    throw Error(fmt::format("{} {} at {} could not compile {} {}: {}; this says nothing about the kernel, and is not remembered (is there "
                            "memory, and room at {}?)\n{}",
                            found.name, found.version, found.path, request.kernel->name, request.config.str(),
                            why_failed(result, options_.timeout_s), folder.path(), log));
  if (binary.bytes.empty())
    throw CompileError(fmt::format("kernel {} {} does not compile on the host: {} ({} {} at {})\n{}",
                                   request.kernel->name, request.config.str(), why_failed(result, options_.timeout_s),
                                   found.name, found.version, found.path, log),
                       log, fmt::format("{}", fmt::join(arguments, " ")), source, found.identity());
  binary.entry = entry_name(request.kernel->name);
  binary.target = request.target;
  binary.code = code_identity(request).digest();
  binary.compiler = found.identity();
  binary.log = log;
  binary.compile_ms = std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
  return binary;
}

}  // namespace

std::unique_ptr<Toolchain> make_host(const HostToolchainOptions& options) {
  return std::make_unique<HostToolchain>(options);
}

}  // namespace strop::jit
