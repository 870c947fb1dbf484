// strop cache invalidate: throw out exactly the entries that the conditions name.

#include <fmt/format.h>

#include <memory>

#include "tools/strop/declaration.h"
#include "tools/strop/destroy.h"
#include "tools/strop/entries.h"
#include "tools/strop/json_values.h"
#include "tools/strop/terminal.h"

namespace strop::cli {
namespace {

struct InvalidateOptions {
  Selection selection;
  bool stale = false;
  bool all = false;
  Destroy destroy;
};

bool stale(const Entry& entry) { return entry.outdated || entry.state.state == engine::State::suspect; }

std::vector<Entry> chosen(cache::Store& store, const InvalidateOptions& options) {
  Machine machine;
  auto entries = selected(store, machine, options.selection);
  if (options.stale) std::erase_if(entries, [](const Entry& entry) { return !stale(entry); });
  return entries;
}

void report(const Session& session, const InvalidateOptions& options, const cache::Place& place,
            const std::vector<Entry>& entries, bool done) {
  if (session.json) {
    auto json = document("cache invalidate");
    json["path"] = place.path;
    json["dry_run"] = options.destroy.dry_run;
    json["removed"] = done ? entries.size() : 0;
    json["entries"] = Json::array();
    for (const auto& entry : entries) json["entries"].push_back(to_json(entry.winner, entry.state));
    print(text_of(json));
    return;
  }
  if (entries.empty())
    note(fmt::format("no entries of {} match\n", place.path));
  else
    print(entries_table(entries));
  if (!entries.empty()) note(fmt::format("{} entries {}\n", entries.size(), done ? "removed" : "would be removed"));
}

int run(const Session& session, const InvalidateOptions& options) {
  if (options.all && (options.selection.any() || options.stale)) throw UsageError("--all takes no other condition");
  if (!options.all && !options.selection.any() && !options.stale)
    throw UsageError(
        "say which entries: --stale, --driver, --kernel, --device, --key, --older-than, or --all for every one");
  static_cast<void>(options.selection.filter());
  const auto cache = open_cache(session, options.destroy.dry_run ? Access::look : Access::change);
  std::vector<Entry> entries;
  if (cache.exists) entries = chosen(*cache.store, options);
  if (options.destroy.dry_run || entries.empty()) {
    report(session, options, cache.place, entries, false);
    return kDone;
  }
  if (!options.destroy.yes && !session.json) note(entries_table(entries));
  options.destroy.require_consent(fmt::format("Remove {} entries from {}?", entries.size(), cache.place.path));
  std::vector<cache::Winner> winners;
  for (const auto& entry : entries) winners.push_back(entry.winner);
  const auto removed = cache.store->remove(winners);
  if (removed.size() != winners.size()) {
    throw CacheError(
        fmt::format("{} of {} entries were removed from {}", removed.size(), winners.size(), cache.place.path));
  }
  report(session, options, cache.place, entries, true);
  return kDone;
}

}  // namespace

void add_cache_invalidate(Declaration& group, const Session& session) {
  auto invalidate = group.subcommand("invalidate", "Throw out entries by driver, kernel, device, age or key");
  auto options = std::make_shared<InvalidateOptions>();
  add_selection(invalidate, options->selection);
  invalidate.flag("--stale", options->stale,
                  "made doubtful by a driver or compiler change, or outdated by a new template");
  invalidate.flag("--all", options->all, "every entry");
  invalidate.heading("");
  options->destroy.declare(invalidate);
  invalidate.json().run([options, &session] { return run(session, *options); });
}

}  // namespace strop::cli
