// strop bench: device time of an op's winners beside a copy and an add kernel over the same bytes, measured in the same
// run.

#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "src/engine/parts.h"
#include "src/engine/serving.h"
#include "src/engine/timing_bench.h"
#include "src/ops/ceilings/stream.h"
#include "tools/strop/arguments.h"
#include "tools/strop/declaration.h"
#include "tools/strop/entries.h"
#include "tools/strop/interrupt.h"
#include "tools/strop/json_values.h"
#include "tools/strop/progress_bar.h"
#include "tools/strop/shapes.h"
#include "tools/strop/terminal.h"
#include "tools/strop/text_table.h"
#include "tuner/measure.h"

namespace strop::cli {
namespace {

// Rounds in which all kernels of a comparison take turns, so that a drift of the clocks meets all of them.
constexpr int kRounds = 5;
constexpr int kBatchesARound = 9;

struct BenchCommand {
  ShapeOptions shapes;
  std::string device = "auto";
};

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

struct Row {
  const WarmupItem* item = nullptr;
  Config winner;
  Measurement time, copy, add;
};

WarmupItem ceiling_of(const KernelProblem& problem, int inputs) {
  // As many bytes read and written in all as the kernel must move, in packs of 16.
  const auto bytes = static_cast<std::int64_t>(problem.bytes_moved() / (inputs + 1)) / 16 * 16;
  return {&ops::stream_kernel(), std::make_shared<ops::StreamProblem>(inputs, std::max<std::int64_t>(16, bytes))};
}

Config winner_of(Library& library, const WarmupItem& item) {
  ProgressBar bar;
  WarmupOptions options;
  options.progress = bar.hook();
  return *library.warmup({&item, 1}, options).keys.front().winner;
}

// `ceilings` is a library on the same device that remembers nothing: copy and add are no winners of the user's.
Row measure(Library& library, Library& ceilings, const WarmupItem& item) {
  const auto copy_item = ceiling_of(*item.problem, 1), add_item = ceiling_of(*item.problem, 2);
  Row row;
  row.item = &item;
  row.winner = winner_of(library, item);
  Subject subject(engine::parts_of(library), item, row.winner);
  Subject copy(engine::parts_of(ceilings), copy_item, winner_of(ceilings, copy_item));
  Subject add(engine::parts_of(ceilings), add_item, winner_of(ceilings, add_item));
  for (int round = 0; round < kRounds; ++round) {
    for (auto* one : {&subject, &copy, &add}) one->sample(kBatchesARound);
  }
  row.time = tuner::summarise(subject.samples);
  row.copy = tuner::summarise(copy.samples);
  row.add = tuner::summarise(add.samples);
  return row;
}

double gigabytes_a_second(const Row& row) { return row.item->problem->bytes_moved() / row.time.median_us / 1e3; }

Json row_json(const Row& row) {
  Json json{{"kernel", row.item->kernel->source.name},
            {"key", to_json(row.item->problem->key())},
            {"winner", to_json(row.winner)}};
  add_time(json, row.time);
  json["bytes"] = row.item->problem->bytes_moved();
  json["gb_per_s"] = gigabytes_a_second(row);
  json["copy_us"] = row.copy.median_us;
  json["add_us"] = row.add.median_us;
  json["of_copy"] = row.copy.median_us / row.time.median_us;
  json["of_add"] = row.add.median_us / row.time.median_us;
  return json;
}

std::string table_of(const std::vector<Row>& rows) {
  TextTable table({"kernel", "key", "winner", ">median", ">spread", ">GB/s", ">copy", ">of copy", ">add", ">of add"});
  for (const auto& row : rows) {
    table.row({row.item->kernel->source.name, row.item->problem->key().str(), row.winner.str(),
               time_text(row.time.median_us), time_text(row.time.spread_us),
               fmt::format("{:.0f}", gigabytes_a_second(row)), time_text(row.copy.median_us),
               fmt::format("{:.1f} %", 100 * row.copy.median_us / row.time.median_us), time_text(row.add.median_us),
               fmt::format("{:.1f} %", 100 * row.add.median_us / row.time.median_us)});
  }
  return table.text();
}

int run(const Session& session, const BenchCommand& command) {
  end_well_when_interrupted();
  const auto items = items_of(command.shapes);
  Options options;
  options.device = parse_device("--device", command.device);
  options.cache_path = session.cache;
  const auto library = Library::open(options);
  options.cache_path = ":memory:";
  const auto ceilings = Library::open(options);
  std::vector<Row> rows;
  for (const auto& item : items) rows.push_back(measure(*library, *ceilings, item));
  if (session.json) {
    auto json = document("bench");
    json["op"] = command.shapes.op;
    json["device"] = library->device().name;
    json["cache"] = library->cache_path();
    json["kernels"] = Json::array();
    for (const auto& row : rows) json["kernels"].push_back(row_json(row));
    print(text_of(json));
  } else {
    print(table_of(rows) +
          fmt::format("on {}; cold caches; copy and add move the same bytes, measured in turns with the kernel\n",
                      library->device().name));
  }
  return kDone;
}

}  // namespace

void add_bench(Declaration& parent, const Session& session) {
  auto bench = parent.subcommand("bench", "Device time of an op's winners, beside a copy and an add of the same bytes");
  auto command = std::make_shared<BenchCommand>();
  add_shapes(bench, command->shapes);
  bench.heading("How");
  bench.option("--device", command->device, "auto (a GPU if one is usable, else the host), cuda, cuda:N or host",
               "WHICH");
  bench.footer(
      "What has no winner yet is tuned first. On the host device the times mean little: it is for correctness.");
  bench.heading("").json().run([command, &session] { return run(session, *command); });
}

}  // namespace strop::cli
