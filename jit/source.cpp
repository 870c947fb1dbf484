// From a request to the translation unit that a compiler sees.

#include "jit/source.h"

#include <fmt/format.h>

#include <limits>
#include <optional>

#include "jit/toolchain.h"
#include "src/base/identifier.h"
#include "src/base/settings.h"
#include "strop/error.h"

namespace strop::jit {
namespace {

std::int64_t value_or(const CompileRequest& request, std::string_view name, std::optional<std::int64_t> fallback) {
  if (const auto value = request.config.find(name)) return *value;
  if (const auto value = request.constants.find(name)) return *value;
  if (fallback) return *fallback;
  throw CompileError(
      fmt::format("kernel {}: neither config {} nor constants {} have '{}', which the launch bounds need",
                  request.kernel->name, request.config.str(), request.constants.str(), name),
      "", "", "", "");
}

std::string literal(std::int64_t value) {
  // The most negative number has no literal of its own: it is a minus before a number that is too large.
  if (value == std::numeric_limits<std::int64_t>::min()) return fmt::format("({}LL - 1)", value + 1);
  return fmt::format("{}LL", value);
}

// decltype keeps the default's type (int, bool, an enum), and names the parameter in the error when there is no
// default. The cast alone would cut a value that the type cannot hold.
void add_override(std::string& text, const Config::Entry& entry) {
  text += fmt::format(
      "  static constexpr decltype(StropDefaults::{0}) {0} = static_cast<decltype(StropDefaults::{0})>({1});\n"
      "  static_assert(static_cast<long long>({0}) == {1}, \"the type of parameter {0} can't hold {1}\");\n",
      entry.first, literal(entry.second));
}

}  // namespace

std::string_view prelude(bool host) { return host ? "common/host/prelude.h" : "common/cuda/prelude.cuh"; }

// No --use_fast_math: templates say where they approximate. No precompiled headers: they race between processes.
std::vector<std::string> cuda_options(const std::string& target) {
  return {"--gpu-architecture=" + target, "--std=c++17", "--ptxas-options=-v"};
}

std::string cuda_options_from_outside() { return settings::foreign("NVRTC_APPEND_FLAGS").value_or(""); }

// -O1: the host device is for correctness. No contraction and no aliasing games, so that results are those of the
// source. No standard headers: identities know nothing of them.
const std::vector<std::string>& host_options() {
  static const std::vector<std::string> options{"-std=c++17",
                                                "-O1",
                                                "-fPIC",
                                                "-shared",
                                                "-fvisibility=hidden",
                                                "-fno-strict-aliasing",
                                                "-ffp-contract=off",
                                                "-Wno-unknown-pragmas",
                                                "-w",
                                                "-nostdinc"};
  return options;
}

std::string entry_name(std::string_view kernel) {
  std::string name = "strop_";
  for (const char c : kernel) name += is_identifier(std::string{'_', c}) ? c : '_';
  return name;
}

std::string generate_source(const CompileRequest& request, bool host) {
  const auto& kernel = *request.kernel;
  std::string text = fmt::format("#include \"{}\"\n#include \"{}\"\n\n", prelude(host), kernel.file);
  text += fmt::format("using StropArgs = {};\nusing StropDefaults = {};\n", kernel.args, kernel.params);
  text += "struct StropParams : StropDefaults {\n";
  for (const auto& entry : request.constants.entries())
    if (!request.config.contains(entry.first)) add_override(text, entry);
  for (const auto& entry : request.config.entries()) add_override(text, entry);
  text += "};\n";
  text += fmt::format("static_assert(sizeof(StropArgs) == {}, \"host and device disagree on the size of {}\");\n",
                      kernel.args_size, kernel.args);
  text += fmt::format("STROP_ENTRY({}, StropArgs, {}, {}, {}<StropParams>)\n", entry_name(kernel.name),
                      value_or(request, "threads", std::nullopt), value_or(request, "min_blocks", 1), kernel.function);
  return text;
}

}  // namespace strop::jit
