#include "src/engine/warmup.h"

#include <algorithm>
#include <chrono>
#include <new>
#include <map>
#include <thread>

#include <fmt/format.h>

#include "src/base/digest.h"
#include "src/base/log.h"
#include "src/base/settings.h"
#include "src/engine/compile_pool.h"
#include "src/engine/leases.h"
#include "src/engine/serving.h"
#include "src/engine/tuning.h"

namespace strop::engine {
namespace {

using Clock = std::chrono::steady_clock;

// How often a process looks whether another one is done.
constexpr std::chrono::milliseconds kLook{50};

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

// One key that is to be tuned.
struct Queued {
  std::size_t at = 0;  // among the reports
  Job job;
  std::string scope, what;  // of its lease: the class of code, since that is what is compiled
};

Queued queued(std::size_t at, Job&& job) {
  Queued one{at, std::move(job), {}, {}};
  const auto& id = one.job.id;
  const auto constants = one.job.problem->constants().str();
  one.scope = digest_of(fmt::format("{}\n{}\n{}\n{}", id.kernel, id.template_digest, id.device_class, constants));
  one.what = fmt::format("{} {}", id.kernel, constants);
  return one;
}

// What is asked of a warmup or a revalidation.
struct Wish {
  std::function<bool(const EntryState&)> revalidate;  // which winners are to be re-timed
  bool only_known = false;                            // keys without a winner are passed over
  double budget_s = 0;
  std::function<void(const Progress&)> progress;
};

// A warmup in progress.
class Run {
 public:
  Run(Parts& parts, ReadyTable& table, Wish wish) : parts_(parts), table_(table), wish_(std::move(wish)), pool_(parts), leases_(*parts.store) {}

  // Answers a hit at once, else queues the key.
  void add(const WarmupItem& item);
  Report finish();

 private:
  bool add_key(const WarmupItem& item);
  bool serves(const cache::Winner& winner, const EntryState& state, Job& job) const;
  bool tuned_meanwhile(const Queued& one);
  void tune_all(const std::vector<Queued>& all);
  void wait_for(std::vector<Queued> theirs);
  bool out_of_budget() const { return wish_.budget_s > 0 && seconds_since(begin_) > wish_.budget_s; }
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
  Wish wish_;
  CompilePool pool_;
  Leases leases_;
  std::map<std::string, Config> seen_;  // keys, with their constants
  std::vector<KeyReport> reports_;  // in the order of the items
  std::vector<Queued> queue_;
  Progress state_;
};

void Run::add(const WarmupItem& item) {
  reports_.emplace_back();
  if (item.kernel == nullptr || item.problem == nullptr) {
    reports_.back().note = fmt::format("item {} of the warmup has no {}", reports_.size() - 1, item.kernel == nullptr ? "kernel" : "problem");
    return;
  }
  reports_.back().kernel = item.kernel->source.name;
  try {
    if (!add_key(item)) reports_.pop_back();
  } catch (const std::exception& error) {  // of this key's code; the others go on
    reports_.back().note = error.what();
  }
}

// False: nothing to report, the same key came before or has no winner to revalidate.
bool Run::add_key(const WarmupItem& item) {
  Job job{item.kernel, item.problem, parts_.entry_id(*item.kernel, *item.problem), std::nullopt, std::nullopt};
  reports_.back().key = job.id.key;
  const auto constants = item.problem->constants();
  if (const auto [at, is_new] = seen_.emplace(table_id(job.id), constants); !is_new) {
    require_same_constants(at->second, constants, job.id);
    return false;
  }
  const auto winner = find_winner(parts_, *item.kernel, *item.problem, job.id);
  if (!winner && wish_.only_known) return false;
  if (winner) {
    const auto state = state_of(*winner, parts_.environment());
    if (serves(*winner, state, job)) {
      reports_.back() = hit_report(*winner, state.reason);
      load(job, reports_.back());
      return true;
    }
  }
  queue_.push_back(queued(reports_.size() - 1, std::move(job)));
  return true;
}

// Whether the winner is the answer as it is; else the job says what is to be done about it.
bool Run::serves(const cache::Winner& winner, const EntryState& state, Job& job) const {
  const bool suspect = wish_.revalidate(state);
  const bool cut_off = !wish_.only_known && is_unfinished(winner);
  // After seal() what is stored is what is served.
  if ((!suspect && !cut_off) || (parts_.sealed && !wish_.only_known)) return true;
  job.stored = winner;
  if (suspect) job.suspect = winner;
  return false;
}

// Another process was at it.
bool Run::tuned_meanwhile(const Queued& one) {
  const auto winner = parts_.store->find_winner(one.job.id);
  if (!winner || (one.job.stored && winner->tuned_at == one.job.stored->tuned_at && winner->revalidated_at == one.job.stored->revalidated_at))
    return false;
  const auto& job = one.job;
  if (!why_foreign(*job.kernel, job.problem->constants(), winner->config, parts_.device->facts()).empty() || is_unfinished(*winner)) return false;
  reports_[one.at] = hit_report(*winner, "tuned by another process meanwhile");
  load(job, reports_[one.at]);
  ++state_.keys_done;
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
  if (!wish_.progress) return;
  Progress progress = state_;
  progress.compiled = pool_.finished();
  progress.to_compile = pool_.submitted();
  progress.judged += judged;
  progress.kernel = job.id.kernel;
  progress.key = job.id.key.str();
  try {
    wish_.progress(progress);
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

// Keys whose leases this process has. What the store has by now is not tuned again; all others are compiled ahead.
void Run::tune_all(const std::vector<Queued>& all) {
  std::vector<std::pair<const Queued*, Candidates>> left;
  for (const auto& one : all) {
    if (tuned_meanwhile(one)) continue;
    left.emplace_back(&one, submit(one.job));
    state_.to_judge += static_cast<int>(left.back().second.configs.size());
  }
  for (std::size_t i = 0; i < left.size(); ++i) {
    const auto* one = left[i].first;
    const auto& candidates = left[i].second;
    const std::lock_guard lock(parts_.tuning);
    const auto begin = Clock::now();
    auto& report = reports_[one->at];
    show(one->job, 0);
    report = settle(one->job, tune(one->job, candidates));
    if (report.winner) load(one->job, report);
    report.elapsed_s = seconds_since(begin);
    ++state_.keys_done;
    state_.judged += static_cast<int>(candidates.configs.size());
    show(one->job, 0);
    const bool more = std::any_of(left.begin() + static_cast<std::ptrdiff_t>(i) + 1, left.end(), [&](const auto& l) { return l.first->scope == one->scope; });
    if (!more) leases_.release(one->scope);
  }
  for (const auto& one : all) leases_.release(one.scope);
}

// Keys that other processes tune: their winners are taken as they come; what is given up, or takes too long, is tuned here.
void Run::wait_for(std::vector<Queued> theirs) {
  const std::chrono::duration<double> patience(static_cast<double>(settings::number("tuning_wait_s")));
  while (!theirs.empty()) {
    std::vector<Queued> ours;
    std::erase_if(theirs, [&](Queued& one) {
      if (tuned_meanwhile(one)) return true;
      std::string holder;
      const bool claimed = leases_.claim(one.scope, one.what, patience, &holder);
      if (!claimed && !out_of_budget()) return false;
      if (claimed && !holder.empty())
        log::warn_once("lease:" + one.scope, fmt::format("{} [{}], of {}, is tuned here now: that one is gone, stopped, or has taken more than "
                                                         "{:.0f} s (STROP_TUNING_WAIT_S)",
                                                         one.job.id.kernel, one.job.id.key.str(), holder, patience.count()));
      ours.push_back(std::move(one));
      return true;
    });
    if (!ours.empty()) tune_all(ours);
    else if (!theirs.empty()) std::this_thread::sleep_for(kLook);
  }
}

Report Run::finish() {
  if (!queue_.empty()) parts_.require_unsealed("time", queue_.front().job.id.kernel, queue_.front().job.id.key.str());
  // The most bytes first: what gains most is done when a budget ends the rest.
  std::stable_sort(queue_.begin(), queue_.end(), [](const auto& a, const auto& b) {
    return a.job.problem->bytes_moved() > b.job.problem->bytes_moved();
  });
  state_.keys = static_cast<int>(queue_.size());
  std::vector<Queued> ours, theirs;
  for (auto& one : queue_) (leases_.claim(one.scope, one.what) ? ours : theirs).push_back(std::move(one));
  tune_all(ours);
  wait_for(std::move(theirs));
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
  const bool suspects = options.revalidate_suspects;
  Run run(parts, table, {[suspects](const EntryState& state) { return suspects && state.state == State::suspect; }, false, options.budget_s, options.progress});
  for (const auto& item : items) run.add(item);
  return run.finish();
}

Report revalidate(Parts& parts, ReadyTable& table, std::span<const WarmupItem> items, const RevalidateOptions& options) {
  const bool all = !options.suspects_only;
  Run run(parts, table, {[all](const EntryState& state) { return all || state.state == State::suspect; }, true, 0, options.progress});
  for (const auto& item : items) run.add(item);
  return run.finish();
}

std::string failures(const Report& report) {
  std::string text;
  for (const auto& key : report.keys)
    if (key.outcome == Outcome::failed) text += fmt::format("\n  {} [{}]: {}", key.kernel, key.key.str(), key.note);
  return text;
}

}  // namespace strop::engine
