#include "tests/unit/tuner/made_up_judge.h"

#include <memory>
#include <utility>

namespace strop::tuner {

double Noise::normal() {
  double sum = 0;
  for (int i = 0; i < 12; ++i) sum += uniform();
  return sum - 6;
}

NoiseModel quiet() {
  return [](double true_us, Noise&, int) { return true_us; };
}

NoiseModel gaussian(double share) {
  return [share](double true_us, Noise& noise, int) { return true_us * (1 + share * noise.normal()); };
}

NoiseModel spikes(double share) {
  return [share](double true_us, Noise& noise, int) {
    const double spike = noise.uniform() < 1.0 / 12 ? 2 * noise.uniform() : 0;
    return true_us * (1 + share * noise.normal() + spike);
  };
}

NoiseModel drift(double share) {
  return [share](double true_us, Noise& noise, int n) {
    const double slower = n < 1000 ? 0.1 * n / 1000 : 0.1;
    return true_us * (1 + slower) * (1 + share * noise.normal());
  };
}

NoiseModel bimodal_clock(double share) {
  auto slow = std::make_shared<bool>(false);
  return [share, slow](double true_us, Noise& noise, int) {
    if (noise.uniform() < 0.02) *slow = !*slow;  // every fifty samples or so
    return true_us * (*slow ? 1.08 : 1) * (1 + share * noise.normal());
  };
}

MadeUpJudge::MadeUpJudge(std::vector<double> true_us, NoiseModel model, std::uint64_t seed)
    : true_us_(std::move(true_us)), model_(std::move(model)), noise_(seed) {
  for (std::size_t i = 0; i < true_us_.size(); ++i) configs_.push_back(Config{{"c", static_cast<std::int64_t>(i)}});
}

Trial MadeUpJudge::prepare(std::size_t candidate) {
  prepared.push_back(candidate);
  Trial trial;
  trial.config = configs_.at(candidate);
  if (const auto at = verdicts.find(candidate); at != verdicts.end()) {
    trial.verdict = at->second;
    trial.detail = "planted";
  }
  return trial;
}

std::vector<double> MadeUpJudge::sample(std::size_t candidate, int batches) {
  sampled.push_back(candidate);
  const int nth = samplings_[candidate]++;
  if (const auto at = faults.find(candidate); at != faults.end()) at->second(nth);
  std::vector<double> samples;
  for (int i = 0; i < batches; ++i) {
    const double time = model_(true_us_.at(candidate), noise_, n_++);
    samples.push_back(always.contains(candidate) ? always.at(candidate) : time);
  }
  return samples;
}

}  // namespace strop::tuner
