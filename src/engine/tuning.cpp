#include "src/engine/tuning.h"

#include <algorithm>

#include <fmt/format.h>

#include "src/base/format.h"
#include "src/base/log.h"
#include "src/engine/judge.h"
#include "src/engine/serving.h"
#include "strop/error.h"
#include "tuner/search.h"

namespace strop::engine {
namespace {

// A revalidation times the winner and the runners-up: enough to see the order change, few enough to cost nothing.
constexpr std::size_t kBestFew = 4;
// As many as a final may have (tuner::SearchOptions::finalists, with ties).
constexpr std::size_t kFinalists = 8;

// Limits that need no compiler to be seen.
std::string over_limit(const LaunchGeometry& geometry, const DeviceFacts& facts) {
  const auto threads = static_cast<std::uint64_t>(geometry.block.x) * geometry.block.y * geometry.block.z;
  if (threads > static_cast<std::uint64_t>(facts.max_threads_per_block))
    return fmt::format("{} threads a block, the device has {}", threads, facts.max_threads_per_block);
  if (geometry.dynamic_shared > facts.shared_per_block)
    return fmt::format("{} bytes of shared memory a block, the device has {}", geometry.dynamic_shared, facts.shared_per_block);
  return {};
}

std::vector<Config> best_few(Parts& parts, const Job& job) {
  std::vector<cache::StoredTrial> trials = parts.store->trials_of(job.id);
  const auto constants = job.problem->constants();
  std::erase_if(trials, [&](const auto& t) {
    return t.trial.verdict != Verdict::ok || t.trial.time.samples == 0 ||
           !why_foreign(*job.kernel, constants, t.trial.config, parts.device->facts()).empty();
  });
  std::stable_sort(trials.begin(), trials.end(),
                   [](const auto& a, const auto& b) { return a.trial.time.median_us < b.trial.time.median_us; });
  std::vector<Config> configs{job.suspect->config};
  for (const auto& row : trials)
    if (configs.size() < kBestFew && row.trial.config != job.suspect->config) configs.push_back(row.trial.config);
  return configs;
}

bool same_conditions(const cache::StoredTrial& row, const cache::Environment& here) {
  const auto& then = row.environment;
  return then.driver == here.driver && then.strop_version == here.strop_version && (here.compiler == "unknown" || then.compiler == here.compiler || then.compiler == "unknown");
}

// What is too slow was checked and is right.
bool counts_as_rejected(const Trial& trial) { return trial.verdict != Verdict::ok && trial.verdict != Verdict::too_slow; }

// Trials of an earlier run that did not reach its end.
std::vector<std::optional<Trial>> resumed(Parts& parts, const Job& job, const Candidates& candidates) {
  std::vector<std::optional<Trial>> known(candidates.configs.size());
  if (job.suspect) return known;
  const auto rows = parts.store->trials_of(job.id);
  const auto here = parts.environment();
  // When nothing was right, compiler, reference or launch geometry may have been at fault, and may have been put right since; ask again.
  // But not what would take the context again.
  const bool one_right = std::any_of(rows.begin(), rows.end(), [](const auto& row) { return !counts_as_rejected(row.trial); });
  for (const auto& row : rows) {
    if (!same_conditions(row, here)) continue;
    if (row.trial.verdict != Verdict::crashed && !one_right) continue;
    const auto at = std::find(candidates.configs.begin(), candidates.configs.end(), row.trial.config);
    if (at != candidates.configs.end()) known[static_cast<std::size_t>(at - candidates.configs.begin())] = row.trial;
  }
  return known;
}

// What an earlier run's trial speaks for is needed again only if it comes into the final.
std::vector<bool> worth_compiling(const std::vector<std::optional<Trial>>& known) {
  std::vector<std::pair<double, std::size_t>> timed;
  std::vector<bool> wanted(known.size());
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (known[i] && known[i]->verdict == Verdict::ok && known[i]->time.samples > 0) timed.emplace_back(known[i]->time.median_us, i);
    else wanted[i] = !known[i] || known[i]->verdict == Verdict::ok;
  }
  std::sort(timed.begin(), timed.end());
  for (std::size_t i = 0; i < std::min(timed.size(), kFinalists); ++i) wanted[timed[i].second] = true;
  return wanted;
}

std::string summary_of_failures(const std::vector<Trial>& trials) {
  if (trials.empty()) return "no candidate was judged";
  std::string text = fmt::format("none of {} candidates could win:", trials.size());
  std::size_t shown = 0;
  for (const auto& trial : trials) {
    if (++shown > 8) return text + " ...";
    text += fmt::format(" {} {} ({});", trial.config.str(), name(trial.verdict), trial.detail);
  }
  return text;
}

// Candidates of which this run learnt nothing; empty when there are none.
std::string unsettled_trials(const std::vector<Trial>& trials) {
  const auto open = [](const Trial& trial) { return !settled(trial.verdict); };
  const auto first = std::find_if(trials.begin(), trials.end(), open);
  if (first == trials.end()) return {};
  return fmt::format("{} of {} candidates could not be judged and are tried again by the next warmup: {} {} ({})",
                     std::count_if(trials.begin(), trials.end(), open), trials.size(), first->config.str(), name(first->verdict), first->detail);
}

cache::Winner make_winner(Parts& parts, const Job& job, const KeyReport& report, const Trial& best, const cache::StoredBinary& binary) {
  cache::Winner winner;
  winner.id = job.id;
  winner.environment = parts.environment();
  winner.environment.compiler = binary.compiler;
  winner.config = best.config;
  winner.code = binary.code;
  winner.time = best.time;
  winner.candidates = report.candidates;
  winner.rejected = report.rejected;
  winner.tuned_at = job.suspect ? job.suspect->tuned_at : unix_now();
  winner.revalidated_at = job.suspect ? unix_now() : 0;
  winner.last_used = unix_now();
  return winner;
}

}  // namespace

bool disproved(const Job& job, const KeyReport& report) {
  if (!job.suspect || report.outcome != Outcome::failed) return false;
  return std::any_of(report.trials.begin(), report.trials.end(), [&](const Trial& trial) {
    return trial.config == job.suspect->config && disproves(trial.verdict);
  });
}

void forget(Parts& parts, const cache::Winner& winner) {
  log::warn(fmt::format("the winner of {} [{}], {}, is not right here any more and is thrown out", winner.id.kernel, winner.id.key.str(),
                        winner.config.str()));
  try {
    parts.store->remove({winner});
  } catch (const Error& error) {
    log::warn(fmt::format("it could not be removed from the cache: {}", error.what()));
  }
}

Candidates submit_candidates(Parts& parts, CompilePool& pool, const Job& job) {
  Candidates candidates;
  const auto& facts = parts.device->facts();
  const auto constants = job.problem->constants();
  candidates.configs = job.suspect ? best_few(parts, job) : job.kernel->space.configs(constants, facts);
  // Asked again when they are judged: by then the compiler is known, and what another one's trials said counts no more.
  const auto ahead = worth_compiling(resumed(parts, job, candidates));
  for (std::size_t i = 0; i < candidates.configs.size(); ++i) {
    const auto& config = candidates.configs[i];
    candidates.refused.push_back(over_limit(job.problem->geometry(config), facts));
    const bool compile = candidates.refused.back().empty() && ahead[i];
    candidates.compiled.push_back(compile ? pool.submit(*job.kernel, constants, config) : CompiledFuture{});
  }
  return candidates;
}

KeyReport tune_key(Parts& parts, const Job& job, const Candidates& candidates, const TuningHooks& hooks) {
  KeyReport report;
  report.kernel = job.kernel->source.name;
  report.key = job.id.key;
  report.candidates = static_cast<int>(candidates.configs.size());
  if (candidates.configs.empty()) {
    report.note = "no config of the space is legal for this key on this device";
    return report;
  }
  const auto known = resumed(parts, job, candidates);
  DeviceJudge judge(parts, job, candidates, hooks);
  tuner::SearchOptions options;
  options.limit_us = judge.limit_us();
  const auto result = tuner::search(candidates.configs, judge, options, known);
  parts.timings += result.timings;
  report.trials = result.trials;
  report.rejected = static_cast<int>(std::count_if(report.trials.begin(), report.trials.end(), counts_as_rejected));
  const auto resumed_trials = std::count_if(known.begin(), known.end(), [](const auto& t) { return t.has_value(); });
  if (resumed_trials > 0) report.note = fmt::format("resumed: {} trials of an earlier run", resumed_trials);
  if (!result.winner) {
    report.note = result.stopped && report.trials.empty() ? "the budget was spent before this key" : summary_of_failures(report.trials);
    return report;
  }
  const auto at = std::find(result.reached.begin(), result.reached.end(), *result.winner);
  const Trial& best = result.trials[static_cast<std::size_t>(at - result.reached.begin())];
  const auto& binary = judge.binary(*result.winner);
  auto winner = make_winner(parts, job, report, best, binary);
  winner.why = result.why;
  winner.limit_us = options.limit_us;
  if (result.stopped && judge.stop()) {
    winner.flags = "budget";
    report.note = "the budget was spent: the best so far";
  }
  if (const auto unsettled = unsettled_trials(report.trials); !unsettled.empty()) {
    winner.flags += winner.flags.empty() ? "unsettled" : ",unsettled";
    report.note += (report.note.empty() ? "" : "; ") + unsettled;
  }
  if (job.suspect) {
    winner.candidates = job.suspect->candidates;
    winner.rejected = job.suspect->rejected;
    if (winner.flags.empty()) winner.flags = job.suspect->flags;
    report.previous = job.suspect->config;
    report.previous_us = job.suspect->time.median_us;
  }
  report.outcome = job.suspect ? Outcome::revalidated : Outcome::tuned;
  report.winner = best.config;
  report.time = best.time;
  parts.store->put_winner(winner, binary);
  return report;
}

}  // namespace strop::engine
