#include "src/engine/serving.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "src/base/log.h"
#include "src/engine/compile_pool.h"

namespace strop::engine {
namespace {

std::shared_ptr<device::LoadedKernel> load_or_compile(Parts& parts, const Kernel& kernel, const KernelProblem& problem,
                                                      const jit::CompileRequest& request, const std::string& code, unsigned shared) {
  if (auto stored = parts.store->find_binary(code, "")) {
    try {
      ++parts.loads;
      return parts.device->load(stored->bytes, stored->entry, shared);
    } catch (const Error& error) {
      log::warn_once("reload:" + code, fmt::format("a cached binary of {} does not load and is made again: {}", kernel.source.name, error.what()));
    }
  }
  parts.require_unsealed("compile", kernel.source.name, problem.key().str());
  ++parts.compiles;
  parts.toolchain->compiler();
  parts.compiler_opened = true;
  const auto binary = parts.toolchain->compile(request);
  parts.store->put_binary({code, binary.compiler, binary.target, kernel.source.name, binary.entry, jit::code_identity(request).text(),
                           binary.bytes, binary.resources, 0, 0}, false);
  ++parts.loads;
  return parts.device->load(binary.bytes, binary.entry, shared);
}

}  // namespace

std::string why_foreign(const Kernel& kernel, const Config& constants, const Config& config, const DeviceFacts& facts) {
  if (config == kernel.space.fallback() || (config.entries().empty() && kernel.space.parameters().empty())) return {};
  return kernel.space.why_illegal(config, constants, facts);
}

std::string table_id(const cache::EntryId& id) { return id.kernel + '\n' + id.key.str() + '\n' + id.template_digest; }

std::optional<cache::Winner> find_winner(Parts& parts, const Kernel& kernel, const KernelProblem& problem, const cache::EntryId& id) {
  ++parts.lookups;
  auto winner = parts.store->find_winner(id);
  if (!winner) return std::nullopt;
  if (const auto why = why_foreign(kernel, problem.constants(), winner->config, parts.device->facts()); !why.empty()) {
    log::warn_once("foreign config:" + table_id(id),
                   fmt::format("the winner stored for {} [{}], {}, is not used: {}; the key counts as not tuned", id.kernel, id.key.str(),
                               winner->config.str(), why));
    return std::nullopt;
  }
  tell_if_suspect(*winner, parts.environment());
  parts.store->touch(id);
  return winner;
}

std::shared_ptr<device::LoadedKernel> load_config(Parts& parts, const Kernel& kernel, const KernelProblem& problem, const Config& config) {
  const auto shared = problem.geometry(config).dynamic_shared;
  const auto request = parts.request(kernel, problem.constants(), config);
  const auto code = jit::code_identity(request).digest();
  const auto module = fmt::format("{} {} {}", kernel.source.name, code, shared);
  {
    const std::lock_guard lock(parts.loaded_mutex);
    if (const auto at = parts.loaded.find(module); at != parts.loaded.end()) return at->second;
  }
  auto kernel_there = load_or_compile(parts, kernel, problem, request, code, shared);
  const std::lock_guard lock(parts.loaded_mutex);
  return parts.loaded.emplace(module, std::move(kernel_there)).first->second;
}

std::shared_ptr<Ready> load_ready(Parts& parts, const Kernel& kernel, const KernelProblem& problem, const Config& config, const std::string& origin) {
  auto ready = std::make_shared<Ready>();
  ready->config = config;
  ready->constants = problem.constants();
  ready->origin = origin;
  ready->loaded = load_config(parts, kernel, problem, config);
  return ready;
}

void require_same_constants(const Config& there, const Config& constants, const cache::EntryId& id) {
  if (there == constants) return;
  throw Error(fmt::format("two problems of {} have the key [{}] and different constants, {} and {}: what decides the constants must be in the key",
                          id.kernel, id.key.str(), there.str(), constants.str()));
}

bool disproves(Verdict verdict) {
  return verdict == Verdict::wrong_result || verdict == Verdict::wrote_outside || verdict == Verdict::not_reproducible ||
         verdict == Verdict::crashed || verdict == Verdict::launch_failed;
}

void tell_if_suspect(const cache::Winner& winner, const cache::Environment& here) {
  const auto state = state_of(winner, here);
  if (state.state != State::suspect) return;
  log::warn_once("suspect:" + state.reason,
                 fmt::format("winners timed before a change ({}) are served as they are, {} [{}] among them; "
                             "`strop cache revalidate` or a warmup re-times them",
                             state.reason, winner.id.kernel, winner.id.key.str()));
}

namespace {

// Trials of this very key that say of a config that it is wrong here.
std::vector<Trial> disproved(Parts& parts, const cache::EntryId& id) {
  std::vector<Trial> found;
  for (auto& row : parts.store->trials_of(id))
    if (disproves(row.trial.verdict) && row.environment.driver == parts.device->facts().driver) found.push_back(std::move(row.trial));
  return found;
}

// Winners of the kernel that this problem could run, the nearest key first.
std::vector<cache::Winner> neighbours(Parts& parts, const Kernel& kernel, const KernelProblem& problem, const cache::EntryId& id) {
  const auto constants = problem.constants();
  std::vector<std::pair<double, cache::Winner>> found;
  for (auto& winner : parts.store->winners_of(id)) {
    const auto distance = winner.id.key.distance(id.key);
    if (distance && why_foreign(kernel, constants, winner.config, parts.device->facts()).empty()) found.emplace_back(*distance, std::move(winner));
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<cache::Winner> winners;
  winners.reserve(found.size());
  for (auto& [distance, winner] : found) winners.push_back(std::move(winner));
  return winners;
}

std::shared_ptr<Ready> load_neighbour(Parts& parts, const Kernel& kernel, const KernelProblem& problem, const cache::Winner& neighbour) {
  return load_ready(parts, kernel, problem, neighbour.config, "nearest " + neighbour.id.key.str());
}

}  // namespace

std::shared_ptr<const Ready> nearest_or_default(Parts& parts, const Kernel& kernel, const KernelProblem& problem, const cache::EntryId& id) {
  const auto wrong = disproved(parts, id);
  const auto sound = [&](const Config& config) {
    return std::none_of(wrong.begin(), wrong.end(), [&](const Trial& trial) { return trial.config == config; });
  };
  for (const auto& near : neighbours(parts, kernel, problem, id))
    if (sound(near.config)) return load_neighbour(parts, kernel, problem, near);
  if (sound(kernel.space.fallback())) return load_ready(parts, kernel, problem, kernel.space.fallback(), "default");
  std::string text;
  for (const auto& trial : wrong) text += fmt::format("\n  {} {}: {}", trial.config.str(), name(trial.verdict), trial.detail);
  throw Error(fmt::format("{} [{}] has no config that is known to be right here; its trials say:{}", id.kernel, id.key.str(), text));
}

std::shared_ptr<const Ready> neighbour_of_same_code(Parts& parts, const Kernel& kernel, const KernelProblem& problem, const cache::EntryId& id) {
  const auto constants = problem.constants();
  std::map<Config, std::string> codes;  // of this problem: the digest reads the whole template
  for (const auto& neighbour : neighbours(parts, kernel, problem, id)) {
    auto& code = codes[neighbour.config];
    if (code.empty()) code = jit::code_identity(parts.request(kernel, constants, neighbour.config)).digest();
    if (code != neighbour.code) continue;
    auto ready = load_neighbour(parts, kernel, problem, neighbour);
    ready->sought = true;
    return ready;
  }
  return nullptr;
}

}  // namespace strop::engine
