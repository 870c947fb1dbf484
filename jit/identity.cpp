// What makes two binaries, or two templates, the same.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "jit/source.h"
#include "jit/toolchain.h"

namespace strop::jit {
namespace {

// Raised when something changes in how binaries are made that neither texts nor options show.
constexpr std::string_view kFormat = "1";

void add_sources(Ingredients& identity, const KernelTemplate& kernel, bool host) {
  for (const auto& [name, text] : reachable_sources(kernel, host)) identity.add_blob("source " + name, text);
}

void add_options(Ingredients& identity, bool host, const std::string& target) {
  identity.add("options", fmt::format("{}", fmt::join(host ? host_options() : cuda_options(target), " ")));
  if (host) return;
  if (const auto more = cuda_options_from_outside(); !more.empty()) identity.add("options from outside", more);
}

}  // namespace

std::string Compiler::identity() const { return fmt::format("{} {} ({})", name, version, build_id.substr(0, 12)); }

Ingredients code_identity(const CompileRequest& request) {
  const bool host = is_host(request.target);
  Ingredients identity;
  identity.add("format", kFormat).add("kernel", request.kernel->name).add("target", request.target);
  add_options(identity, host, request.target);
  identity.add("constants", request.constants.str()).add("config", request.config.str());
  identity.add("generated", generate_source(request, host));
  add_sources(identity, *request.kernel, host);
  return identity;
}

Ingredients template_identity(const KernelTemplate& kernel, bool host) {
  Ingredients identity;
  identity.add("format", kFormat).add("kernel", kernel.name).add("file", kernel.file).add("function", kernel.function);
  identity.add("params", kernel.params).add("args", kernel.args).add("args_size", std::to_string(kernel.args_size));
  identity.add("arch_specific", kernel.arch_specific ? "1" : "0");
  add_options(identity, host, host ? "host" : "the device's");
  add_sources(identity, kernel, host);
  return identity;
}

}  // namespace strop::jit
