#include "src/engine/warmup.h"

#include <algorithm>
#include <chrono>
#include <new>
#include <map>

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

// Its tuning did not come to judge every candidate: a budget ended it, or the machine did not let it.
bool is_unfinished(const cache::Winner& winner) {
  return winner.flags.find("budget") != std::string::npos || winner.flags.find("unsettled") != std::string::npos;
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
  template <class Revalidate>
  bool add_key(const WarmupItem& item, const Revalidate& revalidate, bool only_known);
  bool out_of_budget() const { return budget_s_ > 0 && seconds_since(begin_) > budget_s_; }
  void load(const Job& job, KeyReport& report);
  Candidates submit(const Job& job);
  KeyReport tune(const Job& job, const Candidates& candidates);
  KeyReport settle(const Job& job, KeyReport report);
  void show(const Job& job, int judged);

  Parts& parts_;
  ReadyTable& table_;
  const Clock::time_point begin_ = Clock::now();
  const std::int64_t compiles_before_ = parts_.compiles;
  const std::int64_t timings_before_ = parts_.timings;
  double budget_s_;
  std::function<void(const Progress&)> progress_;
  CompilePool pool_;
  std::map<std::string, Config> seen_;  // keys, with their constants
  std::vector<KeyReport> reports_;  // in the order of the items
  std::vector<std::pair<std::size_t, Job>> queue_;  // position in reports_, job
  Progress state_;
};

template <class Revalidate>
void Run::add(const WarmupItem& item, const Revalidate& revalidate, bool only_known) {
  reports_.emplace_back();
  reports_.back().kernel = item.kernel->source.name;
  try {
    if (!add_key(item, revalidate, only_known)) reports_.pop_back();
  } catch (const std::exception& error) {  // of this key's code; the others go on
    reports_.back().note = error.what();
  }
}

// False: nothing to report, the same key came before or has no winner to revalidate.
template <class Revalidate>
bool Run::add_key(const WarmupItem& item, const Revalidate& revalidate, bool only_known) {
  Job job{item.kernel, item.problem, parts_.entry_id(*item.kernel, *item.problem), std::nullopt, std::nullopt};
  reports_.back().key = job.id.key;
  const auto constants = item.problem->constants();
  if (const auto [at, is_new] = seen_.emplace(table_id(job.id), constants); !is_new) {
    require_same_constants(at->second, constants, job.id);
    return false;
  }
  const auto winner = find_winner(parts_, *item.kernel, *item.problem, job.id);
  if (!winner && only_known) return false;
  if (winner) {
    const auto state = state_of(*winner, parts_.environment());
    const bool suspect = revalidate(state);
    const bool cut_off = !only_known && is_unfinished(*winner);
    // After seal() what is stored is what is served.
    if ((suspect || cut_off) && (only_known || !parts_.sealed)) {
      job.stored = winner;
      if (suspect) job.suspect = winner;
    } else {
      reports_.back() = hit_report(*winner, state.reason);
      load(job, reports_.back());
      return true;
    }
  }
  queue_.emplace_back(reports_.size() - 1, std::move(job));
  return true;
}

// Leaves the winner loaded in the process's table, so that the first step finds it there.
void Run::load(const Job& job, KeyReport& report) {
  const auto begin = Clock::now();
  try {
    auto ready = load_ready(parts_, *job.kernel, *job.problem, *report.winner, "winner");
    ready->tuned = true;
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
  try {
    progress_(progress);
  } catch (const std::exception& error) {
    log::warn_once("progress", fmt::format("the warmup's progress callback threw, which changes nothing: {}", error.what()));
  }
}

Candidates Run::submit(const Job& job) {
  try {
    return submit_candidates(parts_, pool_, job);
  } catch (const std::exception& error) {  // of this key's code, or of a machine without another thread to give
    Candidates none;
    none.error = error.what();
    return none;
  }
}

KeyReport Run::tune(const Job& job, const Candidates& candidates) {
  KeyReport failed;
  failed.kernel = job.id.kernel;
  failed.key = job.id.key;
  failed.candidates = static_cast<int>(candidates.configs.size());
  if (!candidates.error.empty()) {
    failed.note = candidates.error;
    return failed;
  }
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

// A tuning that came to nothing leaves what was there: it is served, unless this very run found it wrong. Then the key is tuned anew.
KeyReport Run::settle(const Job& job, KeyReport report) {
  if (report.outcome != Outcome::failed || !job.stored) return report;
  if (!disproved(job, report)) return hit_report(*job.stored, "served as it was, not timed again: " + report.note);
  forget(parts_, *job.suspect);
  Job anew = job;
  anew.suspect.reset();
  anew.stored.reset();
  const auto why = report.note;
  report = tune(anew, submit(anew));
  report.note = fmt::format("the winner of before was found wrong ({}){}{}", why, report.note.empty() ? "" : "; ", report.note);
  return report;
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
    candidates.push_back(submit(job));
    state_.to_judge += static_cast<int>(candidates.back().configs.size());
  }
  const std::unique_lock<std::mutex> lock = time_it ? std::unique_lock(parts_.tuning) : std::unique_lock<std::mutex>();
  for (std::size_t i = 0; i < queue_.size(); ++i) {
    const auto& [at, job] = queue_[i];
    const auto begin = Clock::now();
    show(job, 0);
    reports_[at] = settle(job, tune(job, candidates[i]));
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
