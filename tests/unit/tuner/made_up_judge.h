#pragma once

// A judge whose candidates have known true times, and noise of a chosen kind from a seed; what it is asked is written
// down. Used by one thread.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "tuner/search.h"

namespace strop::tuner {

// Makes noise alike on every machine: the distributions of the standard library would not.
class Noise {
 public:
  explicit Noise(std::uint64_t seed) : random_(seed) {}
  double uniform() { return static_cast<double>(random_() >> 11) * 0x1p-53; }
  double normal();

 private:
  std::mt19937_64 random_;
};

// The time that a launch of `true_us` takes as sample number `n` of the process.
using NoiseModel = std::function<double(double true_us, Noise& noise, int n)>;

NoiseModel quiet();
NoiseModel gaussian(double share);
NoiseModel spikes(double share);  // gaussian, and one sample in twelve up to 3 times as long
NoiseModel drift(double share);   // gaussian, and the clock slows by a tenth in the course of the search
NoiseModel bimodal_clock(
    double share);  // gaussian, and a clock that changes between two steps, 8 % apart, at random moments

class MadeUpJudge : public Judge {
 public:
  explicit MadeUpJudge(std::vector<double> true_us, NoiseModel model = quiet(), std::uint64_t seed = 1);

  Trial prepare(std::size_t candidate) override;
  std::vector<double> sample(std::size_t candidate, int batches) override;
  void landed(const Trial& trial) override { landings.push_back(trial); }
  bool stop() override { return stop_when && stop_when(); }
  std::optional<std::size_t> next(const std::vector<std::size_t>& left) override {
    return choose ? choose(left) : left.front();
  }

  const std::vector<Config>& configs() const { return configs_; }
  SearchResult search(const SearchOptions& options = {}, const std::vector<std::optional<Trial>>& known = {}) {
    return tuner::search(configs_, *this, options, known);
  }

  // What a test plants.
  std::map<std::size_t, Verdict> verdicts;                     // of prepare, where not ok
  std::map<std::size_t, std::function<void(int nth)>> faults;  // called before the candidate's nth sampling; may throw
  std::map<std::size_t, double> always;                        // samples of this candidate are all this
  std::function<bool()> stop_when;
  std::function<std::optional<std::size_t>(const std::vector<std::size_t>&)> choose;

  // What was asked.
  std::vector<std::size_t> prepared;
  std::vector<std::size_t> sampled;  // one entry a call
  std::vector<Trial> landings;

 private:
  std::vector<double> true_us_;
  std::vector<Config> configs_;
  NoiseModel model_;
  Noise noise_;
  std::map<std::size_t, int> samplings_;
  int n_ = 0;
};

}  // namespace strop::tuner
