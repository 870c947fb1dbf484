#include "src/engine/warmup.h"

#include <algorithm>
#include <chrono>
#include <new>
#include <set>

#include <fmt/format.h>

#include "src/base/log.h"
#include "src/engine/compile_pool.h"
#include "src/engine/serving.h"
#include "src/engine/tuning.h"

namespace strop::engine {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point then) { return std::chrono::duration<double>(Clock::now() - then).count(); }

KeyReport hit_report(const cache::Winner& winner, const std::string& note) {
  KeyReport report;
  report.kernel = winner.id.kernel;
  report.key = winner.id.key;
  report.outcome = Outcome::hit;
  report.candidates = winner.candidates;
  report.rejected = winner.rejected;
  report.winner = winner.config;
  report.time = winner.time;
  report.note = note;
  return report;
}

// A warmup in progress.
class Run {
 public:
  Run(Parts& parts, ReadyTable& table, double budget_s, std::function<void(const Progress&)> progress)
      : parts_(parts), table_(table), budget_s_(budget_s), progress_(std::move(progress)), pool_(parts) {}

  // Answers a hit at once, else queues the key. `revalidate` says which winners are to be re-timed.
  template <class Revalidate>
  void add(const WarmupItem& item, const Revalidate& revalidate, bool only_known);
  Report finish();

 private:
  bool out_of_budget() const { return budget_s_ > 0 && seconds_since(begin_) > budget_s_; }
  void load(const Job& job, KeyReport& report);
  KeyReport tune(const Job& job, const Candidates& candidates);
  void show(const Job& job, int judged);

  Parts& parts_;
  ReadyTable& table_;
  const Clock::time_point begin_ = Clock::now();
  const std::int64_t compiles_before_ = parts_.compiles;
  const std::int64_t timings_before_ = parts_.timings;
  double budget_s_;
  std::function<void(const Progress&)> progress_;
  CompilePool pool_;
  std::set<std::string> seen_;
  std::vector<KeyReport> reports_;  // in the order of the items
  std::vector<std::pair<std::size_t, Job>> queue_;  // position in reports_, job
  Progress state_;
};

template <class Revalidate>
void Run::add(const WarmupItem& item, const Revalidate& revalidate, bool only_known) {
  Job job{item.kernel, item.problem, parts_.entry_id(*item.kernel, *item.problem), std::nullopt};
  if (!seen_.insert(table_id(job.id)).second) return;  // the same key twice
  auto winner = find_winner(parts_, *item.kernel, *item.problem, job.id);
  if (!winner && only_known) return;
  KeyReport report;
  report.kernel = job.id.kernel;
  report.key = job.id.key;
  if (winner) {
    const auto state = state_of(*winner, parts_.environment());
    if (revalidate(state)) job.suspect = winner;
    else report = hit_report(*winner, state.reason);
  }
  reports_.push_back(report);
  if (report.outcome == Outcome::hit) load(job, reports_.back());
  else queue_.emplace_back(reports_.size() - 1, std::move(job));
}

// Leaves the winner loaded in the process's table, so that the first step finds it there.
void Run::load(const Job& job, KeyReport& report) {
  const auto begin = Clock::now();
  try {
    auto ready = std::make_shared<Ready>();
    ready->config = *report.winner;
    ready->origin = "winner";
    ready->tuned = ready->sought = true;
    ready->loaded = load_config(parts_, *job.kernel, *job.problem, ready->config);
    table_.put(table_id(job.id), std::move(ready));
  } catch (const Error& error) {
    report.outcome = Outcome::failed;
    report.note = error.what();
  }
  report.elapsed_s += seconds_since(begin);
}

void Run::show(const Job& job, int judged) {
  if (!progress_) return;
  Progress progress = state_;
  progress.compiled = pool_.finished();
  progress.to_compile = pool_.submitted();
  progress.judged += judged;
  progress.kernel = job.id.kernel;
  progress.key = job.id.key.str();
  progress_(progress);
}

KeyReport Run::tune(const Job& job, const Candidates& candidates) {
  KeyReport failed;
  failed.kernel = job.id.kernel;
  failed.key = job.id.key;
  failed.candidates = static_cast<int>(candidates.configs.size());
  if (out_of_budget()) {
    failed.note = "the budget was spent before this key";
    return failed;
  }
  TuningHooks hooks;
  hooks.stop = [this] { return out_of_budget(); };
  hooks.judged = [this, &job](int judged) { show(job, judged); };
  try {
    return tune_key(parts_, job, candidates, hooks);
  } catch (const std::bad_alloc&) {
    failed.note = "this machine's memory ran out while the key's trial was prepared (its reference is computed here): are its sizes right?";
    return failed;
  } catch (const std::exception& error) {
    failed.note = error.what();
    return failed;
  }
}

Report Run::finish() {
  const bool time_it = !queue_.empty();
  if (time_it) parts_.require_unsealed("time", queue_.front().second.id.kernel, queue_.front().second.id.key.str());
  // The most bytes first: what gains most is done when a budget ends the rest.
  std::stable_sort(queue_.begin(), queue_.end(), [](const auto& a, const auto& b) {
    return a.second.problem->bytes_moved() > b.second.problem->bytes_moved();
  });
  std::vector<Candidates> candidates;
  state_.keys = static_cast<int>(queue_.size());
  for (const auto& [at, job] : queue_) {
    candidates.push_back(submit_candidates(parts_, pool_, job));
    state_.to_judge += static_cast<int>(candidates.back().configs.size());
  }
  const std::unique_lock<std::mutex> lock = time_it ? std::unique_lock(parts_.tuning) : std::unique_lock<std::mutex>();
  for (std::size_t i = 0; i < queue_.size(); ++i) {
    const auto& [at, job] = queue_[i];
    const auto begin = Clock::now();
    show(job, 0);
    reports_[at] = tune(job, candidates[i]);
    if (reports_[at].winner) load(job, reports_[at]);
    reports_[at].elapsed_s = seconds_since(begin);
    ++state_.keys_done;
    state_.judged += static_cast<int>(candidates[i].configs.size());
    show(job, 0);
  }
  pool_.cancel();
  Report report;
  report.keys = std::move(reports_);
  report.elapsed_s = seconds_since(begin_);
  report.compiles = static_cast<int>(parts_.compiles - compiles_before_);
  report.timings = static_cast<int>(parts_.timings - timings_before_);
  report.device = parts_.device->facts().name;
  report.cache_path = parts_.store->path();
  return report;
}

}  // namespace

Report warm_up(Parts& parts, ReadyTable& table, std::span<const WarmupItem> items, const WarmupOptions& options) {
  Run run(parts, table, options.budget_s, options.progress);
  const auto revalidate = [&](const EntryState& state) { return options.revalidate_suspects && state.state == State::suspect; };
  for (const auto& item : items) run.add(item, revalidate, false);
  return run.finish();
}

Report revalidate(Parts& parts, ReadyTable& table, std::span<const WarmupItem> items, const RevalidateOptions& options) {
  Run run(parts, table, 0, options.progress);
  const auto wanted = [&](const EntryState& state) { return !options.suspects_only || state.state == State::suspect; };
  for (const auto& item : items) run.add(item, wanted, true);
  return run.finish();
}

std::string failures(const Report& report) {
  std::string text;
  for (const auto& key : report.keys)
    if (key.outcome == Outcome::failed) text += fmt::format("\n  {} [{}]: {}", key.kernel, key.key.str(), key.note);
  return text;
}

}  // namespace strop::engine
