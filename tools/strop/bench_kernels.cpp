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

// As the ends of sequences do: a launch that touches next to nothing is beside no copy.
bool comparable(const WarmupItem& item) { return item.problem->bytes_moved() > 0; }

// A ceiling and its share of the kernel's time; null and "-" where there is none.
Json share_json(const Measurement& ceiling, const Measurement& time) {
  return ceiling.samples > 0 ? Json(ceiling.median_us / time.median_us) : Json();
}
std::string share_text(const Measurement& ceiling, const Measurement& time) {
  return ceiling.samples > 0 ? fmt::format("{:.1f} %", 100 * ceiling.median_us / time.median_us) : "-";
}
Json ceiling_json(const Measurement& ceiling) { return ceiling.samples > 0 ? Json(ceiling.median_us) : Json(); }
std::string ceiling_text(const Measurement& ceiling) {
  return ceiling.samples > 0 ? time_text(ceiling.median_us) : "-";
}

double gigabytes_a_second(const KernelTimes& times) {
  return times.item->problem->bytes_moved() / times.time.median_us / 1e3;
}

}  // namespace

KernelTimes measure_kernel(Library& library, Library& ceilings, const WarmupItem& item, const Config& winner) {
  KernelTimes times;
  times.item = &item;
  times.winner = winner;
  std::vector<std::unique_ptr<Subject>> turns;
  turns.push_back(std::make_unique<Subject>(engine::parts_of(library), item, winner));
  for (const int inputs : {1, 2}) {
    if (!comparable(item)) break;
    const auto ceiling = ceiling_of(*item.problem, inputs);
    turns.push_back(std::make_unique<Subject>(engine::parts_of(ceilings), ceiling, winner_of(ceilings, ceiling)));
  }
  for (int round = 0; round < kRounds; ++round) {
    for (const auto& one : turns) one->sample(kBatchesARound);
  }
  times.time = tuner::summarise(turns[0]->samples);
  if (turns.size() < 3) return times;
  times.copy = tuner::summarise(turns[1]->samples);
  times.add = tuner::summarise(turns[2]->samples);
  return times;
}

Json to_json(const KernelTimes& times) {
  Json json{{"kernel", times.item->kernel->source.name},
            {"key", to_json(times.item->problem->key())},
            {"winner", to_json(times.winner)}};
  add_time(json, times.time);
  json["bytes"] = times.item->problem->bytes_moved();
  json["gb_per_s"] = comparable(*times.item) ? Json(gigabytes_a_second(times)) : Json();
  json["copy_us"] = ceiling_json(times.copy);
  json["add_us"] = ceiling_json(times.add);
  json["of_copy"] = share_json(times.copy, times.time);
  json["of_add"] = share_json(times.add, times.time);
  return json;
}

std::string kernels_text(const std::vector<KernelTimes>& kernels) {
  TextTable table({"kernel", "key", "winner", ">median", ">spread", ">GB/s", ">copy", ">of copy", ">add", ">of add"});
  for (const auto& times : kernels) {
    table.row({times.item->kernel->source.name, times.item->problem->key().str(), times.winner.str(),
               time_text(times.time.median_us), time_text(times.time.spread_us),
               comparable(*times.item) ? fmt::format("{:.0f}", gigabytes_a_second(times)) : "-",
               ceiling_text(times.copy), share_text(times.copy, times.time), ceiling_text(times.add),
               share_text(times.add, times.time)});
  }
  return table.text();
}

}  // namespace strop::cli
