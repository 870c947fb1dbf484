#pragma once

// The tuner's judge on a real device: waits for a candidate's binary, loads it, checks it, times it, and stores each trial as it
// lands. One object a key, used by one thread.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/engine/checker.h"
#include "src/engine/timing_bench.h"
#include "src/engine/tuning.h"
#include "tuner/search.h"

namespace strop::engine {

class DeviceJudge : public tuner::Judge {
 public:
  // Allocates the trial's buffers; throws OutOfMemory.
  DeviceJudge(Parts& parts, const Job& job, const Candidates& candidates, const TuningHooks& hooks);

  Trial prepare(std::size_t candidate) override;
  std::vector<double> sample(std::size_t candidate, int batches) override;
  void landed(const Trial& trial) override;
  bool stop() override;
  std::optional<std::size_t> next(const std::vector<std::size_t>& left) override;

  double limit_us() const { return bench_.limit_us(); }
  const cache::StoredBinary& binary(std::size_t candidate) const;
  std::shared_ptr<device::LoadedKernel> loaded(std::size_t candidate) const { return loaded_.at(candidate); }

 private:
  std::shared_ptr<device::LoadedKernel> load(const cache::StoredBinary& binary, const Trial& trial);
  std::shared_ptr<const Compiled> compiled_of(std::size_t candidate);
  const Compiled* made_of(std::size_t candidate) const;
  void load_and_check(std::size_t candidate, const Compiled& compiled, Trial& trial);

  Parts& parts_;
  const Job& job_;
  const Candidates& candidates_;
  const TuningHooks& hooks_;
  Checker checker_;
  TimingBench bench_;
  std::map<std::size_t, std::shared_ptr<device::LoadedKernel>> loaded_;
  std::map<std::size_t, std::shared_ptr<const Compiled>> remade_;  // not submitted, or made again since what was stored did not load
  std::map<std::size_t, Trial> prepared_;
  std::map<Config, std::size_t> index_;
};

}  // namespace strop::engine
