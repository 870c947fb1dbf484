#include "tools/strop/bench_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "src/engine/parts.h"
#include "src/engine/serving.h"
#include "src/engine/timing_bench.h"
#include "src/ops/ceilings/stream.h"
#include "tools/strop/entries.h"
#include "tools/strop/text_table.h"
#include "tuner/measure.h"

namespace strop::cli {
namespace {

// Rounds in which all kernels of a comparison take turns, so that a drift of the clocks meets all of them.
constexpr int kRounds = 5;
constexpr int kBatchesARound = 9;

// A kernel with its winner loaded, on buffers of its own.
struct Subject {
  Subject(engine::Parts& parts, const WarmupItem& item, const Config& winner)
      : problem(item.problem),
        config(winner),
        loaded(engine::load_config(parts, *item.kernel, *item.problem, winner)),
        bench(*parts.device, *item.problem) {}
  void sample(int batches) {
    for (const auto time : bench.sample(*loaded, config, batches)) samples.push_back(time);
  }

  std::shared_ptr<const KernelProblem> problem;
  Config config;
  std::shared_ptr<device::LoadedKernel> loaded;
  engine::TimingBench bench;
  std::vector<double> samples;
};

WarmupItem ceiling_of(const KernelProblem& problem, int inputs) {
  // As many bytes read and written in all as the kernel must move, in packs of 16.
  const auto bytes = static_cast<std::int64_t>(problem.bytes_moved() / (inputs + 1)) / 16 * 16;
  return {&ops::stream_kernel(), std::make_shared<ops::StreamProblem>(inputs, std::max<std::int64_t>(16, bytes))};
}

Config winner_of(Library& library, const WarmupItem& item) { return *library.warmup({&item, 1}).keys.front().winner; }

double gigabytes_a_second(const KernelTimes& times) {
  return times.item->problem->bytes_moved() / times.time.median_us / 1e3;
}

}  // namespace

KernelTimes measure_kernel(Library& library, Library& ceilings, const WarmupItem& item, const Config& winner) {
  const auto copy_item = ceiling_of(*item.problem, 1), add_item = ceiling_of(*item.problem, 2);
  KernelTimes times;
  times.item = &item;
  times.winner = winner;
  Subject subject(engine::parts_of(library), item, winner);
  Subject copy(engine::parts_of(ceilings), copy_item, winner_of(ceilings, copy_item));
  Subject add(engine::parts_of(ceilings), add_item, winner_of(ceilings, add_item));
  for (int round = 0; round < kRounds; ++round) {
    for (auto* one : {&subject, &copy, &add}) one->sample(kBatchesARound);
  }
  times.time = tuner::summarise(subject.samples);
  times.copy = tuner::summarise(copy.samples);
  times.add = tuner::summarise(add.samples);
  return times;
}

Json to_json(const KernelTimes& times) {
  Json json{{"kernel", times.item->kernel->source.name},
            {"key", to_json(times.item->problem->key())},
            {"winner", to_json(times.winner)}};
  add_time(json, times.time);
  json["bytes"] = times.item->problem->bytes_moved();
  json["gb_per_s"] = gigabytes_a_second(times);
  json["copy_us"] = times.copy.median_us;
  json["add_us"] = times.add.median_us;
  json["of_copy"] = times.copy.median_us / times.time.median_us;
  json["of_add"] = times.add.median_us / times.time.median_us;
  return json;
}

std::string kernels_text(const std::vector<KernelTimes>& kernels) {
  TextTable table({"kernel", "key", "winner", ">median", ">spread", ">GB/s", ">copy", ">of copy", ">add", ">of add"});
  for (const auto& times : kernels) {
    table.row({times.item->kernel->source.name, times.item->problem->key().str(), times.winner.str(),
               time_text(times.time.median_us), time_text(times.time.spread_us),
               fmt::format("{:.0f}", gigabytes_a_second(times)), time_text(times.copy.median_us),
               fmt::format("{:.1f} %", 100 * times.copy.median_us / times.time.median_us),
               time_text(times.add.median_us),
               fmt::format("{:.1f} %", 100 * times.add.median_us / times.time.median_us)});
  }
  return table.text();
}

}  // namespace strop::cli
