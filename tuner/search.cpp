#include "tuner/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "strop/error.h"
#include "tuner/final.h"

namespace strop::tuner {
namespace {

// Whether an earlier run's trial says something of the candidate.
bool usable(const Trial& trial) {
  if (!settled(trial.verdict)) return false;
  return trial.verdict != Verdict::ok ||
         (trial.time.samples > 0 && std::isfinite(trial.time.median_us) && trial.time.median_us > 0);
}

class Search {
 public:
  Search(const std::vector<Config>& candidates, Judge& judge, const SearchOptions& options,
         const std::vector<std::optional<Trial>>& known)
      : candidates_(candidates), judge_(judge), options_(options), known_(known) {}

  SearchResult run();

 private:
  void judge_all();
  std::size_t choose(const std::vector<std::size_t>& left);
  void visit(std::size_t candidate);
  void time(std::size_t candidate);
  bool succeeds(std::size_t candidate, const std::function<void(Trial&)>& timing);
  bool at_limit() const { return options_.limit_us > 0 && best_us_ <= options_.limit_us * options_.at_limit; }
  std::vector<std::size_t> best_few() const;
  bool make_ready(std::size_t candidate);
  void hold_final();
  bool hold_round(std::size_t round);
  void name_winner();

  const std::vector<Config>& candidates_;
  Judge& judge_;
  const SearchOptions& options_;
  const std::vector<std::optional<Trial>>& known_;
  std::map<std::size_t, Trial> trials_;  // by candidate
  std::set<std::size_t> ready_;          // prepared in this run
  std::set<std::size_t> timed_;          // in this run
  std::vector<Finalist> finalists_;      // in declared order
  double best_us_ = std::numeric_limits<double>::infinity();
  SearchResult result_;
};

// Runs some timing of a candidate. What goes wrong in it is the candidate's verdict; only a lost context ends the
// search.
bool Search::succeeds(std::size_t candidate, const std::function<void(Trial&)>& timing) {
  Trial& trial = trials_.at(candidate);
  if (timed_.insert(candidate).second) ++result_.timings;
  try {
    timing(trial);
  } catch (const OutOfMemory& error) {
    trial.verdict = Verdict::out_of_memory;
    trial.detail = error.what();
  } catch (const CudaError& error) {
    trial.verdict = error.sticky() ? Verdict::crashed : Verdict::launch_failed;
    trial.detail = error.what();
    if (error.sticky()) {
      judge_.landed(trial);  // the next run must know what took the context
      throw;
    }
  } catch (const Error& error) {
    trial.verdict = Verdict::launch_failed;
    trial.detail = error.what();
  }
  return trial.verdict == Verdict::ok;
}

void Search::time(std::size_t candidate) {
  succeeds(candidate, [&](Trial& trial) {
    const auto measured =
        measure([&](int batches) { return judge_.sample(candidate, batches); }, options_.rule, best_us_);
    trial.time = measured.time;
    if (measured.time.samples == 0) {
      trial.verdict = Verdict::launch_failed;
      trial.detail = "the timer gave no usable time";
    } else if (measured.hopeless) {
      trial.verdict = Verdict::too_slow;
      trial.detail = fmt::format("{:.1f} us at best, {:.1f} us is the best so far", measured.time.min_us, best_us_);
    } else {
      best_us_ = std::min(best_us_, measured.time.median_us);
    }
  });
}

void Search::visit(std::size_t candidate) {
  result_.reached.push_back(candidate);
  if (candidate < known_.size() && known_[candidate] && usable(*known_[candidate])) {
    trials_[candidate] = *known_[candidate];
    if (known_[candidate]->verdict == Verdict::ok) best_us_ = std::min(best_us_, known_[candidate]->time.median_us);
    return;
  }
  trials_[candidate] = judge_.prepare(candidate);
  if (trials_[candidate].verdict == Verdict::ok) {
    ready_.insert(candidate);
    time(candidate);
  }
  judge_.landed(trials_[candidate]);
}

// The default always competes: it is first, whatever is ready.
std::size_t Search::choose(const std::vector<std::size_t>& left) {
  if (result_.reached.empty()) return left.front();
  const auto wish = judge_.next(left).value_or(left.front());
  return std::find(left.begin(), left.end(), wish) == left.end() ? left.front() : wish;
}

void Search::judge_all() {
  std::vector<std::size_t> left(candidates_.size());
  for (std::size_t i = 0; i < left.size(); ++i) left[i] = i;
  while (!left.empty()) {
    if (judge_.stop() || at_limit()) {
      result_.stopped = true;
      return;
    }
    const auto candidate = choose(left);
    visit(candidate);
    std::erase(left, candidate);
  }
}

// The fastest few by their first timing, and the first few in order among those that may be equal to the best: without
// these, which of many equals wins would depend on who had luck in the first timing.
std::vector<std::size_t> Search::best_few() const {
  std::vector<std::size_t> timed;  // in declared order
  for (const auto& [candidate, trial] : trials_)
    if (trial.verdict == Verdict::ok) timed.push_back(candidate);
  const auto time_of = [&](std::size_t candidate) { return trials_.at(candidate).time.median_us; };
  auto fastest = timed;
  std::stable_sort(fastest.begin(), fastest.end(),
                   [&](std::size_t a, std::size_t b) { return time_of(a) < time_of(b); });
  const auto few = static_cast<std::size_t>(std::max(1, options_.finalists));
  std::set<std::size_t> chosen(fastest.begin(),
                               fastest.begin() + static_cast<std::ptrdiff_t>(std::min(few, fastest.size())));
  std::size_t early = 0;
  for (const auto candidate : timed)
    if (early < few && time_of(candidate) <= time_of(fastest.front()) * (1 + options_.tie)) {
      chosen.insert(candidate);
      ++early;
    }
  return {chosen.begin(), chosen.end()};
}

// A finalist known from an earlier run is prepared now; one that no longer can be leaves the field. Once the search is
// to stop, only a field that would be empty without it is worth the wait.
bool Search::make_ready(std::size_t candidate) {
  if (ready_.contains(candidate)) return true;
  if (!finalists_.empty() && judge_.stop()) return false;
  const auto now = judge_.prepare(candidate);
  if (now.verdict == Verdict::ok) {
    ready_.insert(candidate);
    return true;
  }
  trials_[candidate] = now;
  judge_.landed(now);
  return false;
}

// False when the search is to stop. A finalist that fails now is out.
bool Search::hold_round(std::size_t round) {
  std::set<std::size_t> out;
  bool go_on = true;
  for (auto& finalist : finalists_) {
    go_on = go_on && !judge_.stop();
    if (!go_on) break;
    const bool good = succeeds(finalist.candidate, [&](Trial&) {
      finalist.rounds.resize(round);
      finalist.rounds.push_back(judge_.sample(finalist.candidate, options_.final_batches));
    });
    if (good) continue;
    out.insert(finalist.candidate);
    judge_.landed(trials_.at(finalist.candidate));
  }
  std::erase_if(finalists_, [&](const Finalist& finalist) { return out.contains(finalist.candidate); });
  return go_on;
}

void Search::hold_final() {
  for (const auto candidate : best_few())
    if (make_ready(candidate)) finalists_.push_back({candidate, trials_.at(candidate).time, {}});
  // One alone has nothing to be compared with; it is timed only if this run never did.
  const bool alone = finalists_.size() == 1;
  if (finalists_.empty() || (alone && timed_.contains(finalists_.front().candidate))) return;
  for (int round = 0; round < options_.final_rounds && (alone || finalists_.size() > 1); ++round)
    if (!hold_round(static_cast<std::size_t>(round))) break;
  for (const auto& finalist : finalists_) {
    std::vector<double> samples;
    for (const auto& round : finalist.rounds) samples.insert(samples.end(), round.begin(), round.end());
    const auto again = summarise(std::move(samples));
    if (again.samples == 0) continue;
    trials_.at(finalist.candidate).time = again;
    judge_.landed(trials_.at(finalist.candidate));
  }
}

void Search::name_winner() {
  if (finalists_.empty()) return;
  const auto decision = decide(finalists_, candidates_, options_);
  result_.winner = finalists_[decision.position].candidate;
  result_.why = decision.why.empty() ? "the only candidate that could win" : decision.why;
  if (at_limit())
    result_.why += fmt::format("; at the memory limit of {:.1f} us", options_.limit_us);
  else if (result_.stopped)
    result_.why += fmt::format("; stopped after {} of {} candidates", result_.reached.size(), candidates_.size());
}

SearchResult Search::run() {
  judge_all();
  hold_final();
  // When every finalist failed in the final, those behind them are next.
  while (finalists_.empty() && !best_few().empty() && !judge_.stop()) hold_final();
  name_winner();
  for (const auto candidate : result_.reached) result_.trials.push_back(trials_.at(candidate));
  return std::move(result_);
}

}  // namespace

SearchResult search(const std::vector<Config>& candidates, Judge& judge, const SearchOptions& options,
                    const std::vector<std::optional<Trial>>& known) {
  return Search(candidates, judge, options, known).run();
}

}  // namespace strop::tuner
