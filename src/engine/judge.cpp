#include "src/engine/judge.h"

#include <chrono>

#include <fmt/format.h>

#include "src/base/format.h"
#include "strop/error.h"

namespace strop::engine {
namespace {

bool ready(const CompiledFuture& future) {
  return !future.valid() || future.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

}  // namespace

DeviceJudge::DeviceJudge(Parts& parts, const Job& job, const Candidates& candidates, const TuningHooks& hooks)
    : parts_(parts),
      job_(job),
      candidates_(candidates),
      hooks_(hooks),
      checker_(*parts.device, job.problem->check_problem()),
      bench_(*parts.device, *job.problem) {
  for (std::size_t i = 0; i < candidates.configs.size(); ++i) index_.emplace(candidates.configs[i], i);
}

Trial DeviceJudge::prepare(std::size_t candidate) {
  if (const auto at = prepared_.find(candidate); at != prepared_.end()) return at->second;
  Trial trial;
  trial.config = candidates_.configs[candidate];
  trial.dynamic_shared = static_cast<int>(job_.problem->geometry(trial.config).dynamic_shared);
  if (!candidates_.refused[candidate].empty()) {
    trial.verdict = Verdict::too_much_shared_memory;
    trial.detail = candidates_.refused[candidate];
  } else {
    const auto compiled = compiled_of(candidate);
    if (compiled->no_compiler) throw CompileError(compiled->error, "", "", "", "");
    load_and_check(candidate, *compiled, trial);
  }
  prepared_.emplace(candidate, trial);
  return trial;
}

// Submitted ahead, or, where an earlier run's trial spoke for it and it is needed after all, made now.
std::shared_ptr<const Compiled> DeviceJudge::compiled_of(std::size_t candidate) {
  if (candidates_.compiled[candidate].valid()) return candidates_.compiled[candidate].get();
  auto& made = remade_[candidate];
  if (!made) made = compile_now(parts_, *job_.kernel, job_.problem->constants(), candidates_.configs[candidate]);
  return made;
}

void DeviceJudge::load_and_check(std::size_t candidate, const Compiled& compiled, Trial& trial) {
  trial.compile_ms = compiled.compile_ms;
  if (!compiled.binary) {
    trial.verdict = compiled.left_out ? Verdict::not_compiled : Verdict::does_not_compile;
    trial.detail = compiled.error;
    return;
  }
  trial.resources = compiled.binary->resources;
  try {
    loaded_[candidate] = load(*compiled.binary, trial);
  } catch (const OutOfMemory& error) {
    trial.verdict = Verdict::out_of_memory;
    trial.detail = error.what();
    return;
  } catch (const CudaError& error) {
    if (error.sticky() || error.of_capture()) throw;
    trial.verdict = Verdict::does_not_load;
    trial.detail = error.what();
  } catch (const Error& error) {
    // No word of the driver's: the file is not what a compiler makes of this, whoever made it.
    trial.verdict = Verdict::not_compiled;
    trial.detail = fmt::format("what the compiler made does not load: {}", error.what());
  }
  if (trial.verdict != Verdict::ok) {
    // What came from the store may be at fault and not the candidate: a binary from elsewhere, a driver that reads it no more.
    if (!compiled.from_store) return;
    const auto anew = compile_anew(parts_, *job_.kernel, job_.problem->constants(), trial.config);
    if (anew->no_compiler) throw CompileError(anew->error, "", "", "", "");
    remade_[candidate] = anew;
    trial.verdict = Verdict::ok;
    trial.detail.clear();
    load_and_check(candidate, *anew, trial);
    return;
  }
  try {
    const auto finding = checker_.check(*loaded_[candidate], trial.config);
    trial.verdict = finding.verdict;
    trial.detail = finding.detail;
  } catch (const CudaError& error) {
    // The context is lost. The verdict is stored first, so that the next run does not try this candidate again: unless it was lost
    // before, by the caller's own kernels.
    if (error.sticky() && checker_.launched()) {
      trial.verdict = Verdict::crashed;
      trial.detail = error.what();
      if (job_.suspect && job_.suspect->config == trial.config) forget(parts_, *job_.suspect);
      landed(trial);
    }
    throw;
  }
  if (trial.verdict != Verdict::ok) loaded_.erase(candidate);
}

std::shared_ptr<device::LoadedKernel> DeviceJudge::load(const cache::StoredBinary& binary, const Trial& trial) {
  ++parts_.loads;
  return parts_.device->load(binary.bytes, binary.entry, static_cast<unsigned>(trial.dynamic_shared));
}

std::vector<double> DeviceJudge::sample(std::size_t candidate, int batches) {
  return bench_.sample(*loaded_.at(candidate), candidates_.configs[candidate], batches);
}

void DeviceJudge::landed(const Trial& trial) {
  const auto candidate = index_.at(trial.config);
  cache::StoredTrial row;
  row.id = job_.id;
  row.environment = parts_.environment();
  row.trial = trial;
  const auto* made = made_of(candidate);
  if (made != nullptr && made->binary) {
    row.code = made->binary->code;
    row.environment.compiler = made->binary->compiler;
  }
  row.landed_at = unix_now();
  if (settled(trial.verdict)) parts_.store->put_trial(row);
  if (hooks_.judged) hooks_.judged(static_cast<int>(prepared_.size()));
}

bool DeviceJudge::stop() { return hooks_.stop && hooks_.stop(); }

std::optional<std::size_t> DeviceJudge::next(const std::vector<std::size_t>& left) {
  for (const auto candidate : left)
    if (ready(candidates_.compiled[candidate])) return candidate;
  return left.front();
}

// The last that was made of it; null: nothing yet.
const Compiled* DeviceJudge::made_of(std::size_t candidate) const {
  if (const auto at = remade_.find(candidate); at != remade_.end()) return at->second.get();
  const auto& future = candidates_.compiled[candidate];
  return future.valid() && ready(future) ? future.get().get() : nullptr;
}

const cache::StoredBinary& DeviceJudge::binary(std::size_t candidate) const { return *made_of(candidate)->binary; }

}  // namespace strop::engine
