#pragma once

// Timing one callable so that the number can be trusted. A `Sampler` runs some timed batches on the device and returns
// one time a batch, in microseconds a launch, cold caches and busy stream being its owner's business
// (docs/measurement.md). This code decides how many, drops what can't be used, and summarises. Knows no device, no
// compiler and no database. Deterministic given its samples.

#include <functional>
#include <limits>
#include <vector>

#include "strop/trial.h"

namespace strop::tuner {

using Sampler = std::function<std::vector<double>(int batches)>;

struct StoppingRule {
  int min_samples = 7;
  int max_samples = 63;
  int batch = 7;                 // samples asked for at a time
  double narrow_enough = 0.005;  // stop when the interval around the median is within this share of it
  double time_limit_us = 40000;  // device time spent on one candidate
  // A candidate whose fastest samples are this much above the best median so far can no longer win.
  double hopeless = 1.25;
};

struct Measured {
  Measurement time;
  bool hopeless = false;  // stopped early: cannot beat `best_us`
  std::vector<double> samples;
};

Measurement summarise(std::vector<double> samples);
// Half the width of the interval around the median, from order statistics at about 95 %.
double median_half_width(std::vector<double> samples);
Measured measure(const Sampler& sampler, const StoppingRule& rule,
                 double best_us = std::numeric_limits<double>::infinity());

}  // namespace strop::tuner
