// strop warmup: tune the shapes of a job before its first step.

#include <fmt/format.h>

#include <chrono>
#include <memory>

#include "src/ops/op.h"
#include "tools/strop/arguments.h"
#include "tools/strop/declaration.h"
#include "tools/strop/interrupt.h"
#include "tools/strop/progress_bar.h"
#include "tools/strop/report.h"
#include "tools/strop/shapes.h"
#include "tools/strop/terminal.h"

namespace strop::cli {
namespace {

struct WarmupCommand {
  ShapeOptions shapes;
  std::string device = "auto";
  std::string budget;
  bool compile_only = false;
  std::string arch;
};

int finish(const Session& session, Json json, const Report& report, const std::string& error) {
  if (session.json) {
    add_report(json, report);
    if (!error.empty()) json["error"] = error;
    print(text_of(json));
  } else {
    print(report_text(report) + summary_of(report) + "\n");
  }
  if (error.empty()) return kDone;
  note(fmt::format("strop: {}\n", error));
  return kFailed;
}

int tune(const Session& session, const WarmupCommand& command, const std::vector<WarmupItem>& items) {
  WarmupOptions options;
  if (!command.budget.empty()) options.budget_s = parse_seconds("--budget", command.budget);
  const auto begin = std::chrono::steady_clock::now();
  Options open;
  open.device = parse_device("--device", command.device);
  open.cache_path = session.cache;
  const auto library = Library::open(open);
  auto json = document("warmup");
  json["op"] = command.shapes.op;
  json["open_s"] = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  Report report;
  std::string error;
  {
    ProgressBar bar;
    options.progress = bar.hook();
    try {
      report = library->warmup(items, options);
    } catch (const WarmupFailed& failed) {
      report = failed.report();
      error = failed.what();
    }
  }
  return finish(session, std::move(json), report, error);
}

int compile(const Session& session, const WarmupCommand& command, const std::vector<WarmupItem>& items) {
  if (command.arch.empty()) throw UsageError("--compile-only needs --arch: the GPU to compile for, say sm_90");
  if (!command.budget.empty()) throw UsageError("--budget has no meaning with --compile-only: nothing is timed");
  if (command.device != "auto") throw UsageError("--device has no meaning with --compile-only: no device is opened, --arch says for which");
  const auto arch = parse_arch("--arch", command.arch);
  Options open;
  open.cache_path = session.cache;
  CompileOnlyReport report;
  {
    ProgressBar bar;
    report = compile_only(items, arch, open, bar.hook());
  }
  std::string error;
  if (static_cast<int>(report.failed.size()) == report.candidates)
    error = report.failed.empty() ? "there was nothing to compile"
                                  : fmt::format("none of the {} candidates compiles for {}; the first: {}",
                                                report.candidates, report.arch, report.failed.front());
  if (session.json) {
    auto json = document("warmup");
    json["op"] = command.shapes.op;
    json["compile_only"] = true;
    json["arch"] = report.arch;
    json["compiler"] = report.compiler;
    json["cache"] = report.cache_path;
    json["elapsed_s"] = report.elapsed_s;
    json["candidates"] = report.candidates;
    json["compiles"] = report.compiles;
    json["cached"] = report.cached;
    json["timings"] = 0;
    json["failed"] = report.failed;
    if (!error.empty()) json["error"] = error;
    print(text_of(json));
  } else {
    std::string text;
    for (const auto& failure : report.failed) text += bad("does not compile ") + printable(failure) + "\n";
    print(text +
          fmt::format("{} candidates for {} in {:.3f} s: {} compiles, {} were there, {} do not compile; cache {}\n",
                      report.candidates, report.arch, report.elapsed_s, report.compiles, report.cached,
                      report.failed.size(), report.cache_path.empty() ? "in memory" : report.cache_path));
  }
  if (error.empty()) return kDone;
  note(fmt::format("strop: {}\n", error));
  return kFailed;
}

int run(const Session& session, const WarmupCommand& command) {
  end_well_when_interrupted();
  const auto items = items_of(command.shapes);
  if (command.compile_only) return compile(session, command, items);
  if (!command.arch.empty())
    throw UsageError("--arch goes with --compile-only; without it the device's own architecture is compiled for");
  return tune(session, command, items);
}

}  // namespace

void add_warmup(Declaration& parent, const Session& session) {
  auto warmup = parent.subcommand("warmup", "Tune an op for the shapes of a job, before its first step");
  auto command = std::make_shared<WarmupCommand>();
  add_shapes(warmup, command->shapes);
  warmup.heading("How");
  warmup.option("--device", command->device, "auto (a GPU if one is usable, else the host), cuda, cuda:N or host",
                "WHICH");
  warmup.option("--budget", command->budget, "stop timing after so many seconds: what is tuned stays tuned, keys not reached have failed (exit 1)", "SECONDS");
  warmup.flag("--compile-only", command->compile_only,
              "fill the cache with binaries for --arch; needs no GPU, times nothing");
  warmup.option("--arch", command->arch, "with --compile-only: the GPU's architecture, say sm_90", "ARCH");
  warmup.footer(
      "Example: strop warmup causal_conv1d --B 16 --T 8192 --D 2048,4096 --W 4\n"
      "Run it again and everything is a hit: nothing is compiled or timed.");
  warmup.heading("").json().run([command, &session] { return run(session, *command); });
}

}  // namespace strop::cli
