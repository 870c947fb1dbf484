#include "src/engine/parts.h"

#include <fmt/format.h>

#include "src/base/version.h"

namespace strop::engine {

std::string target_for(const Kernel& kernel, const std::string& arch) {
  return kernel.source.arch_specific && arch.starts_with("sm_") ? arch + "a" : arch;
}

std::string Parts::target(const Kernel& kernel) const { return target_for(kernel, device->facts().arch); }

cache::Environment Parts::environment() {
  const auto& facts = device->facts();
  cache::Environment environment;
  environment.device_class = facts.device_class();
  environment.device_name = facts.name;
  environment.driver = facts.driver;
  environment.driver_user_mode = facts.driver_user_mode;
  environment.compiler = compiler_opened ? toolchain->compiler().identity() : "unknown";
  environment.strop_version = kVersion;
  environment.device_uuid = facts.uuid;
  return environment;
}

std::string template_digest(const Kernel& kernel, bool host) {
  auto identity = jit::template_identity(kernel.source, host);
  identity.add("space", kernel.space.describe());
  if (!kernel.revision.empty()) identity.add("revision", kernel.revision);
  return identity.digest();
}

cache::EntryId Parts::entry_id(const Kernel& kernel, const KernelProblem& problem) {
  return {kernel.source.name, problem.key(), device->facts().device_class(), template_digest(kernel, host())};
}

jit::CompileRequest Parts::request(const Kernel& kernel, const Config& constants, const Config& config) const {
  return {&kernel.source, constants, kernel.space.compiled_part(config), target(kernel)};
}

void Parts::require_unsealed(const std::string& what, const std::string& kernel, const std::string& key) const {
  if (sealed)
    throw NotReady(fmt::format("{} [{}] would have to {} after seal(): warm up this key before sealing the library", kernel, key, what));
}

}  // namespace strop::engine
