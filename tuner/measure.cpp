#include "tuner/measure.h"

#include <algorithm>
#include <cmath>

namespace strop::tuner {
namespace {

// Linear interpolation between order statistics; `sorted` is not empty.
double quantile(const std::vector<double>& sorted, double share) {
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const auto above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

// Timers can't give these; whatever made them is no time.
void drop_impossible(std::vector<double>& samples) {
  std::erase_if(samples, [](double t) { return !std::isfinite(t) || t <= 0; });
}

bool cannot_win(const std::vector<double>& samples, const StoppingRule& rule, double best_us) {
  // Its fastest few against the best median: noise only ever adds time.
  auto sorted = samples;
  std::sort(sorted.begin(), sorted.end());
  return sorted.size() >= 3 && sorted[2] > best_us * rule.hopeless;
}

}  // namespace

Measurement summarise(std::vector<double> samples) {
  drop_impossible(samples);
  Measurement result;
  if (samples.empty()) return result;
  std::sort(samples.begin(), samples.end());
  result.median_us = quantile(samples, 0.5);
  result.spread_us = 0.5 * (quantile(samples, 0.75) - quantile(samples, 0.25));
  result.min_us = samples.front();
  result.samples = static_cast<int>(samples.size());
  return result;
}

double median_half_width(std::vector<double> samples) {
  drop_impossible(samples);
  if (samples.size() < 3) return std::numeric_limits<double>::infinity();
  std::sort(samples.begin(), samples.end());
  // Binomial interval of the median: ranks n/2 +- 0.98 sqrt(n), about 95 %, no assumption on the distribution.
  const double n = static_cast<double>(samples.size());
  const double reach = 0.98 * std::sqrt(n);
  const auto low = static_cast<std::size_t>(std::max(0.0, std::floor((n - 1) / 2 - reach)));
  const auto high = std::min(samples.size() - 1, static_cast<std::size_t>(std::ceil((n - 1) / 2 + reach)));
  return 0.5 * (samples[high] - samples[low]);
}

Measured measure(const Sampler& sampler, const StoppingRule& rule, double best_us) {
  Measured measured;
  double spent_us = 0;
  for (int asked = 0; asked < rule.max_samples;) {
    const int batches = std::min(std::max(rule.batch, 1), rule.max_samples - asked);
    auto samples = sampler(batches);
    asked += batches;
    drop_impossible(samples);
    for (const double t : samples) spent_us += t;
    measured.samples.insert(measured.samples.end(), samples.begin(), samples.end());
    if (cannot_win(measured.samples, rule, best_us)) {
      measured.hopeless = true;
      break;
    }
    if (static_cast<int>(measured.samples.size()) < rule.min_samples) continue;
    const auto so_far = summarise(measured.samples);
    if (median_half_width(measured.samples) <= rule.narrow_enough * so_far.median_us) break;
    if (spent_us >= rule.time_limit_us) break;
  }
  measured.time = summarise(measured.samples);
  return measured;
}

}  // namespace strop::tuner
