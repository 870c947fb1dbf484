// strop bench: device and host time of an op's calls and kernels beside a copy and an add of the same bytes, measured
// in the same run; the results as a table, as Markdown and as a plot, with the rivals' where they were measured too.

#include <fmt/format.h>

#include <fstream>
#include <memory>

#include "src/base/format.h"
#include "src/base/version.h"
#include "src/engine/parts.h"
#include "src/engine/timing_bench.h"
#include "src/ops/causal_conv1d/op.h"
#include "tools/strop/arguments.h"
#include "tools/strop/bench_kernels.h"
#include "tools/strop/bench_plot.h"
#include "tools/strop/bench_report.h"
#include "tools/strop/declaration.h"
#include "tools/strop/interrupt.h"
#include "tools/strop/progress_bar.h"
#include "tools/strop/terminal.h"

namespace strop::cli {
namespace {

constexpr const char* kHostMeaning =
    "on the host device: the templates compiled for the CPU, for correctness; the times say nothing of a GPU";

struct BenchCommand {
  ShapeOptions shapes;
  std::string suite;
  bool list = false;
  std::string from;
  std::string device = "auto";
  bool markdown = false;
  std::string plot;
};

// The library that is measured, and one on the same device for copy and add, which are no winners of the user's.
struct Libraries {
  explicit Libraries(Options options) : measured(Library::open(options)) {
    options.cache_path = ":memory:";
    options.on_miss = MissPolicy::tune;
    ceilings = Library::open(options);
  }
  std::shared_ptr<Library> measured, ceilings;
};

bool names_a_shape(const ShapeOptions& shapes) {
  ShapeOptions nothing;
  nothing.op = shapes.op;
  return shapes != nothing;
}

void check(const Session& session, const BenchCommand& command) {
  const auto& s = command.shapes;
  op_of(s.op);
  if (session.json && command.markdown) throw UsageError("--json and --markdown are two ways to print: give one");
  if (command.list && (command.markdown || !command.plot.empty()))
    throw UsageError("--list measures nothing: there is nothing to draw or to print as Markdown");
  if (!command.from.empty()) {
    if (names_a_shape(s) || !command.suite.empty() || command.list || command.device != "auto" || session.json)
      throw UsageError(
          "--from shows what was measured before: shapes, --suite, --list, --device and --json have no meaning with "
          "it");
    return;
  }
  if (!command.suite.empty()) {
    if (names_a_shape(s)) throw UsageError("--suite has its own shapes and types: give either it or --B, --T and --D");
    return;
  }
  for (const auto& [option, value] : {std::pair("--B", &s.B), {"--T", &s.T}, {"--D", &s.D}})
    if (value->empty()) throw UsageError(fmt::format("{} is needed, or --suite table", option));
}

std::vector<BenchRow> asked_rows(const BenchCommand& command) {
  return command.suite.empty() ? rows_of(shapes_of(command.shapes)) : suite(command.suite);
}

// Found before minutes are spent on measuring. Nothing is lost that was in the file.
void check_writable(const std::string& file) {
  if (!file.empty() && !std::ofstream(file, std::ios::app)) throw Error(fmt::format("{} can't be written", file));
}

void write_plot(const std::string& file, const BenchResults& results) {
  const auto svg = plot_of(results);
  std::ofstream out(file, std::ios::trunc);
  out << svg << std::flush;
  if (!out) throw Error(fmt::format("{} can't be written", file));
}

std::vector<KeyReport> tuned(Library& library, const std::vector<WarmupItem>& items) {
  ProgressBar bar;
  WarmupOptions options;
  options.progress = bar.hook();
  return library.warmup(items, options).keys;
}

std::vector<KernelTimes> measure_kernels(const Libraries& libraries, const std::vector<WarmupItem>& items) {
  std::vector<KernelTimes> kernels;
  for (const auto& item : items) {
    const auto winner = *tuned(*libraries.measured, {item}).front().winner;
    kernels.push_back(measure_kernel(*libraries.measured, *libraries.ceilings, item, winner));
  }
  return kernels;
}

Json measured_rows(const Libraries& libraries, const std::vector<BenchRow>& rows, double limit_gbps) {
  auto json = Json::array();
  for (const auto& row : rows) {
    tuned(*libraries.measured, ops::conv_items(row.problem));
    auto measured = row_json(row);
    add_times(measured, measure_calls(libraries.measured, *libraries.ceilings, row.problem), limit_gbps);
    json.push_back(std::move(measured));
  }
  return json;
}

int list(const Session& session, const BenchCommand& command) {
  auto json = document("bench");
  json["op"] = command.shapes.op;
  json["rows"] = Json::array();
  std::string text;
  for (const auto& row : asked_rows(command)) {
    json["rows"].push_back(row_json(row));
    text += row.name + "\n";
  }
  print(session.json ? text_of(json) : text);
  return kDone;
}

Json head_of(const BenchCommand& command, Library& library, double limit_gbps) {
  auto json = document("bench");
  json["op"] = command.shapes.op;
  json["device"] = library.device().name;
  json["cache"] = library.cache_path();
  json["date"] = utc_text(unix_now());
  json["versions"] = {{"strop", kVersion}, {"driver", library.device().driver}};
  json["limit_gbps"] = limit_gbps > 0 ? Json(limit_gbps) : Json();
  if (library.device().kind == DeviceKind::host) json["meaning"] = kHostMeaning;
  return json;
}

void show(const BenchCommand& command, const BenchResults& results, const std::string& kernels) {
  if (!command.plot.empty()) write_plot(command.plot, results);
  print(command.markdown ? results_markdown(results) : results_text(results) + kernels);
}

int measure(const Session& session, const BenchCommand& command) {
  const auto items = command.suite.empty() ? items_of(command.shapes) : std::vector<WarmupItem>();
  const auto rows = asked_rows(command);
  Options options;
  options.device = parse_device("--device", command.device);
  options.cache_path = session.cache;
  const Libraries libraries(options);
  const auto& facts = libraries.measured->device();
  const double limit_gbps = engine::attainable_rate(facts) / 1e9;
  if (facts.kind == DeviceKind::host && !command.suite.empty())
    throw Error(
        "--suite needs a GPU, and the device is the host: its shapes would take hours. Give --B, --T and --D of a "
        "small shape");
  if (!command.plot.empty() && limit_gbps <= 0)
    throw Error(fmt::format("--plot shows shares of the memory's limit, and that of {} is not known", facts.name));
  const auto kernels = measure_kernels(libraries, items);
  auto json = head_of(command, *libraries.measured, limit_gbps);
  json["rows"] = measured_rows(libraries, rows, limit_gbps);
  json["versions"]["compiler"] = engine::parts_of(*libraries.measured).environment().compiler;
  json["kernels"] = Json::array();
  for (const auto& times : kernels) json["kernels"].push_back(to_json(times));
  if (session.json) {
    if (!command.plot.empty()) write_plot(command.plot, results_of(json));
    print(text_of(json));
  } else {
    show(command, results_of(json), kernels.empty() ? "" : "\n" + kernels_text(kernels));
  }
  if (facts.kind == DeviceKind::host) note(fmt::format("strop: {}\n", kHostMeaning));
  return kDone;
}

int run(const Session& session, const BenchCommand& command) {
  check(session, command);
  if (command.list) return list(session, command);
  check_writable(command.plot);
  if (!command.from.empty()) {
    show(command, read_results(command.from), "");
    return kDone;
  }
  end_well_when_interrupted();
  return measure(session, command);
}

}  // namespace

void add_bench(Declaration& parent, const Session& session) {
  auto bench =
      parent.subcommand("bench", "Time of an op's calls and kernels, beside a copy and an add of the same bytes");
  auto command = std::make_shared<BenchCommand>();
  add_shapes(bench, command->shapes, Needed::no);
  bench.option("--suite", command->suite, "instead of shapes: table, the shapes and layouts of the README's table",
               "NAME");
  bench.heading("How");
  bench.option("--device", command->device, "auto (a GPU if one is usable, else the host), cuda, cuda:N or host",
               "WHICH");
  bench.flag("--list", command->list, "only the rows that would be measured");
  bench.option("--from", command->from,
               "show a document of --json, or of tools/benchmarks/rivals.py, and measure nothing", "FILE");
  bench.heading("What is shown");
  bench.flag("--markdown", command->markdown, "the table of calls in Markdown");
  bench.option("--plot", command->plot, "draw achieved bandwidth as a share of the memory's limit, rivals included",
               "FILE.svg");
  bench.footer(
      "What has no winner yet is tuned first; `strop --cache :memory: bench ...` begins with nothing.\n"
      "On the host device the times mean little: it is for correctness. How: docs/measurement.md.");
  bench.heading("").json().run([command, &session] { return run(session, *command); });
}

}  // namespace strop::cli
