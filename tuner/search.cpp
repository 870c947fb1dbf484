#include "tuner/search.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "strop/error.h"

namespace strop::tuner {
namespace {

class Search {
 public:
  Search(const std::vector<Config>& candidates, Judge& judge, const SearchOptions& options, const std::vector<std::optional<Trial>>& known)
      : candidates_(candidates), judge_(judge), options_(options), known_(known) {}

  SearchResult run();

 private:
  void visit(std::size_t candidate);
  void time(std::size_t candidate, Trial& trial);
  bool at_limit() const { return options_.limit_us > 0 && best_us_ <= options_.limit_us * options_.at_limit; }
  std::vector<std::size_t> finalists() const;
  void final_round(std::vector<std::size_t>& finalists);
  void name_winner(const std::vector<std::size_t>& finalists);
  void fail(Trial& trial, Verdict verdict, const std::string& why);

  const std::vector<Config>& candidates_;
  Judge& judge_;
  const SearchOptions& options_;
  const std::vector<std::optional<Trial>>& known_;
  std::map<std::size_t, Trial> trials_;                // by candidate
  std::map<std::size_t, std::vector<double>> samples_;  // of the final rounds
  std::vector<std::size_t> order_;                      // as judged
  double best_us_ = std::numeric_limits<double>::infinity();
  SearchResult result_;
};

void Search::fail(Trial& trial, Verdict verdict, const std::string& why) {
  trial.verdict = verdict;
  trial.detail = why;
}

void Search::time(std::size_t candidate, Trial& trial) {
  ++result_.timings;
  try {
    const auto measured = measure([&](int batches) { return judge_.sample(candidate, batches); }, options_.rule, best_us_);
    trial.time = measured.time;
    if (measured.time.samples == 0) fail(trial, Verdict::launch_failed, "the timer gave no usable time");
    else if (measured.hopeless) fail(trial, Verdict::too_slow, fmt::format("{:.1f} us at best, {:.1f} us is the best so far", measured.time.min_us, best_us_));
    else best_us_ = std::min(best_us_, measured.time.median_us);
  } catch (const OutOfMemory& error) {
    fail(trial, Verdict::out_of_memory, error.what());
  } catch (const CudaError& error) {
    fail(trial, error.sticky() ? Verdict::crashed : Verdict::launch_failed, error.what());
    if (error.sticky()) {
      judge_.landed(trial);  // the context is gone: the next run must know what took it
      throw;
    }
  } catch (const Error& error) {
    fail(trial, Verdict::launch_failed, error.what());
  }
}

void Search::visit(std::size_t candidate) {
  order_.push_back(candidate);
  if (candidate < known_.size() && known_[candidate]) {
    trials_[candidate] = *known_[candidate];
    if (known_[candidate]->verdict == Verdict::ok) best_us_ = std::min(best_us_, known_[candidate]->time.median_us);
    return;
  }
  Trial trial = judge_.prepare(candidate);
  if (trial.verdict == Verdict::ok) time(candidate, trial);
  trials_[candidate] = trial;
  judge_.landed(trial);
}

// The best few, by their first timing; ties by the fixed order.
std::vector<std::size_t> Search::finalists() const {
  std::vector<std::size_t> timed;
  for (const auto& [candidate, trial] : trials_)
    if (trial.verdict == Verdict::ok && trial.time.samples > 0) timed.push_back(candidate);
  std::stable_sort(timed.begin(), timed.end(),
                   [&](std::size_t a, std::size_t b) { return trials_.at(a).time.median_us < trials_.at(b).time.median_us; });
  if (timed.size() > static_cast<std::size_t>(options_.finalists)) timed.resize(static_cast<std::size_t>(options_.finalists));
  std::sort(timed.begin(), timed.end());
  return timed;
}

// Interleaved, so that a drifting clock meets all alike. A finalist that fails now is out.
void Search::final_round(std::vector<std::size_t>& finalists) {
  std::erase_if(finalists, [&](std::size_t candidate) {
    auto& trial = trials_.at(candidate);
    try {
      auto more = judge_.sample(candidate, options_.final_batches);
      auto& all = samples_[candidate];
      all.insert(all.end(), more.begin(), more.end());
      return false;
    } catch (const CudaError& error) {
      if (error.sticky()) throw;
      fail(trial, Verdict::launch_failed, error.what());
    } catch (const Error& error) {
      fail(trial, Verdict::launch_failed, error.what());
    }
    judge_.landed(trial);
    return true;
  });
}

void Search::name_winner(const std::vector<std::size_t>& finalists) {
  std::size_t best = finalists.front();
  for (const auto candidate : finalists)
    if (trials_.at(candidate).time.median_us < trials_.at(best).time.median_us) best = candidate;
  const double best_us = trials_.at(best).time.median_us;
  double noise = 0;
  if (samples_.contains(best)) noise = median_half_width(samples_.at(best));
  if (!std::isfinite(noise)) noise = 0;
  const double equal_us = best_us + std::max(options_.tie * best_us, noise);
  std::size_t winner = best;
  std::size_t ties = 0;
  double runner_up_us = std::numeric_limits<double>::infinity();
  for (const auto candidate : finalists) {  // declared order: the first equal one wins
    const double us = trials_.at(candidate).time.median_us;
    if (us <= equal_us) {
      if (ties++ == 0) winner = candidate;
    } else {
      runner_up_us = std::min(runner_up_us, us);
    }
  }
  result_.winner = winner;
  const double noise_share = best_us > 0 ? 100 * noise / best_us : 0;
  if (ties > 1) {
    result_.why = fmt::format("tie within {:.1f} % of {} other{}: first in order (noise {:.1f} %)", 100 * (equal_us / best_us - 1), ties - 1,
                              ties == 2 ? "" : "s", noise_share);
  } else if (std::isfinite(runner_up_us)) {
    result_.why = fmt::format("beats the next finalist by {:.1f} % (noise {:.1f} %)", 100 * (runner_up_us / best_us - 1), noise_share);
  } else {
    result_.why = "the only candidate that could win";
  }
}

SearchResult Search::run() {
  std::vector<std::size_t> left(candidates_.size());
  for (std::size_t i = 0; i < left.size(); ++i) left[i] = i;
  // The default always competes: it is judged first, whatever is ready.
  while (!left.empty()) {
    if (judge_.stop() || at_limit()) {
      result_.stopped = true;
      break;
    }
    const auto candidate = order_.empty() ? left.front() : judge_.next(left).value_or(left.front());
    visit(candidate);
    std::erase(left, candidate);
  }
  auto last = finalists();
  // A finalist of an earlier run is made ready now; one that no longer is leaves the field.
  std::erase_if(last, [&](std::size_t candidate) {
    const auto ready = judge_.prepare(candidate);
    if (ready.verdict == Verdict::ok) return false;
    trials_[candidate] = ready;
    judge_.landed(ready);
    return true;
  });
  const bool interleave = last.size() > 1;
  for (int round = 0; interleave && round < options_.final_rounds && last.size() > 1 && !judge_.stop(); ++round) final_round(last);
  for (const auto candidate : last) {
    const auto again = samples_.contains(candidate) ? summarise(samples_.at(candidate)) : Measurement{};
    if (again.samples == 0) continue;
    trials_.at(candidate).time = again;
    judge_.landed(trials_.at(candidate));
  }
  if (!last.empty()) name_winner(last);
  for (const auto candidate : order_) {
    result_.reached.push_back(candidate);
    result_.trials.push_back(trials_.at(candidate));
  }
  return std::move(result_);
}

}  // namespace

SearchResult search(const std::vector<Config>& candidates, Judge& judge, const SearchOptions& options,
                    const std::vector<std::optional<Trial>>& known) {
  return Search(candidates, judge, options, known).run();
}

}  // namespace strop::tuner
