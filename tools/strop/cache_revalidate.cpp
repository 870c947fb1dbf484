// strop cache revalidate: time the stored best few of doubtful winners again, on the device they belong to.

#include <fmt/format.h>

#include <map>
#include <memory>
#include <optional>

#include "src/ops/op.h"
#include "tools/strop/declaration.h"
#include "tools/strop/entries.h"
#include "tools/strop/interrupt.h"
#include "tools/strop/progress_bar.h"
#include "tools/strop/report.h"
#include "tools/strop/terminal.h"

namespace strop::cli {
namespace {

struct RevalidateCommand {
  Selection selection;
  bool all = false;
};

// What is to be timed, by the device it is timed on, and what can't be.
struct Work {
  std::map<std::string, std::vector<WarmupItem>> by_device;
  std::vector<std::pair<Entry, std::string>> skipped;
};

std::optional<WarmupItem> item_of(const cache::EntryId& id) {
  for (const auto* op : ops::all()) {
    if (auto item = op->item_of(id.kernel, id.key)) return item;
  }
  return std::nullopt;
}

Work work_of(const std::vector<Entry>& entries, Machine& machine, bool all) {
  Work work;
  for (const auto& entry : entries) {
    const auto* device = machine.device_of(entry.winner);
    if (device == nullptr || entry.outdated) {
      if (all) work.skipped.emplace_back(entry, entry.state.reason);
      continue;
    }
    if (!all && entry.state.state != engine::State::suspect) continue;
    if (auto item = item_of(entry.winner.id))
      work.by_device[device_word(*device)].push_back(std::move(*item));
    else
      work.skipped.emplace_back(entry,
                                "not a problem that the command can make: it is timed again when its job warms up");
  }
  return work;
}

void append(Report& all, Report&& one) {
  all.elapsed_s += one.elapsed_s;
  all.compiles += one.compiles;
  all.timings += one.timings;
  all.cache_path = one.cache_path;
  all.device += (all.device.empty() ? "" : ", ") + one.device;
  for (auto& key : one.keys) all.keys.push_back(std::move(key));
}

Report revalidate(const Work& work, const cache::Place& place, bool all) {
  Report report;
  for (const auto& [device, items] : work.by_device) {
    Options options;
    options.device = device;
    options.cache_path = place.path;
    ProgressBar bar;
    RevalidateOptions how;
    how.suspects_only = !all;
    how.progress = bar.hook();
    append(report, Library::open(options)->revalidate(items, how));
  }
  return report;
}

// Empty when every key was timed.
std::string failure_of(const Report& report) {
  std::size_t failed = 0;
  const KeyReport* first = nullptr;
  for (const auto& key : report.keys) {
    if (key.outcome != Outcome::failed) continue;
    if (failed++ == 0) first = &key;
  }
  if (first == nullptr) return {};
  return fmt::format("{} of {} entries could not be timed again, and stay as they are; the first, {} [{}]: {}", failed,
                     report.keys.size(), first->kernel, first->key.str(), first->note);
}

int run(const Session& session, const RevalidateCommand& command) {
  end_well_when_interrupted();
  static_cast<void>(command.selection.filter());
  auto cache = open_cache(session, Access::change);
  Machine machine;
  Work work;
  if (cache.exists) work = work_of(selected(*cache.store, machine, command.selection), machine, command.all);
  cache.store.reset();
  const auto report = revalidate(work, cache.place, command.all);

  const auto error = failure_of(report);
  if (session.json) {
    auto json = document("cache revalidate");
    add_report(json, report);
    json["cache"] = cache.place.path;
    if (!error.empty()) json["error"] = error;
    json["skipped"] = Json::array();
    for (const auto& [entry, why] : work.skipped) {
      json["skipped"].push_back(to_json(entry.winner, entry.state));
      json["skipped"].back()["note"] = why;
    }
    print(text_of(json));
  } else {
    for (const auto& [entry, why] : work.skipped)
      note(fmt::format("left out: {} {} [{}]: {}\n", cache::handle(entry.winner.id), entry.winner.id.kernel,
                       entry.winner.id.key.str(), why));
    if (!cache.exists)
      note(absent_text(cache.place) + "\n");
    else if (report.keys.empty())
      print(
          fmt::format("nothing to revalidate in {}: no entry of a device that is here is suspect\n", cache.place.path));
    else
      print(report_text(report) + summary_of(report) + "\n");
  }
  if (error.empty()) return kDone;
  note(fmt::format("strop: {}\n", error));
  return kFailed;
}

}  // namespace

void add_cache_revalidate(Declaration& group, const Session& session) {
  auto revalidate =
      group.subcommand("revalidate", "Time the best few of suspect entries again; says which winners changed");
  auto command = std::make_shared<RevalidateCommand>();
  add_selection(revalidate, command->selection);
  revalidate.heading("").flag("--all", command->all, "entries that are not suspect too");
  revalidate.footer("At most four candidates an entry are timed, and nothing is compiled that the cache has.");
  revalidate.json().run([command, &session] { return run(session, *command); });
}

}  // namespace strop::cli
