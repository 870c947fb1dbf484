#pragma once

// Template + constants + target -> binary. Two toolchains: nvrtc/ (a cubin for the real architecture) and host/ (a shared object
// for the host device, by the system's C++ compiler). A binary is a pure function of (template text and everything it includes,
// constants, options, target, compiler build). Makes no handles: loading and launching are the device's. Thread-safe: candidates
// compile in parallel.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "src/base/digest.h"
#include "strop/config.h"
#include "strop/kernel.h"
#include "strop/trial.h"

namespace strop::jit {

struct CompileRequest {
  const KernelTemplate* kernel = nullptr;
  Config constants;    // of the problem's class
  Config config;       // the candidate
  std::string target;  // "sm_90", "sm_90a"; "x86_64" for the host
};

struct Compiler {
  std::string name;      // "nvrtc", "g++"
  std::string version;   // "13.0.88"
  std::string build_id;  // GNU build id of the library (+ builtins), or digest of the compiler's --version text
  std::string path;      // provenance only
  std::string rule;      // by which rule it was found
  std::vector<std::string> targets;  // architectures it can make
  // "nvrtc 13.0.88 (1a2b3c4d)": what the cache keeps
  std::string identity() const;
};

struct Binary {
  std::string bytes;     // cubin or shared object
  std::string entry;     // symbol to launch
  std::string target;
  std::string code;      // code_identity(request).digest()
  std::string compiler;  // Compiler::identity()
  Resources resources;
  std::string log;
  double compile_ms = 0;
};

class Toolchain {
 public:
  virtual ~Toolchain() = default;
  // Finds and opens the compiler at the first call of this or of `compile`; throws CompileError saying where it looked and what to
  // install.
  virtual const Compiler& compiler() = 0;
  // Throws CompileError with the whole log when the compiler refused the source; Error for what says nothing about the source (it took
  // too long, no memory, bad options of the environment) and must not be remembered against it.
  virtual Binary compile(const CompileRequest& request) = 0;
};

struct NvrtcOptions {
  std::string library;         // file or folder; empty: the setting, then the rules of docs/settings.md
  double timeout_s = 30;       // a compile that takes longer is cancelled
};
std::unique_ptr<Toolchain> make_nvrtc(const NvrtcOptions& options = {});

struct HostToolchainOptions {
  std::string compiler;                // empty: the setting STROP_CXX, then c++, g++, clang++
  std::vector<std::string> flags;      // added after ours: "-fsanitize=address"; part of the identity
  double timeout_s = 120;
};
std::unique_ptr<Toolchain> make_host(const HostToolchainOptions& options = {});

// The texts embedded at build time, by include name ("common/dialect.cuh", "causal_conv1d/fwd.cuh").
const std::map<std::string, std::string>& embedded_templates();

// The generated translation unit: the toolchain's prelude, the template, the params struct that overrides the named defaults, the
// static_assert on the args struct, the entry point with its launch bounds.
std::string generate_source(const CompileRequest& request, bool host);
// The template and everything it includes, transitively, for one side. Throws CompileError for an include that is not there.
std::map<std::string, std::string> reachable_sources(const KernelTemplate& kernel, bool host);

// Identity of the code without the compiler: template texts, constants, config, options, target. Never opens a compiler, so that a
// hit can be served without one.
Ingredients code_identity(const CompileRequest& request);
// Identity of the template alone (texts, names, args size, options): with the space's text, part of a winner's identity.
Ingredients template_identity(const KernelTemplate& kernel, bool host);

}  // namespace strop::jit
