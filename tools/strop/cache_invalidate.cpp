// strop cache invalidate: throw out exactly the entries that the conditions name.

#include <fmt/format.h>

#include <memory>

#include "tools/strop/declaration.h"
#include "tools/strop/destroy.h"
#include "tools/strop/entries.h"
#include "tools/strop/json_values.h"
#include "tools/strop/terminal.h"
#include "tools/strop/unfinished.h"

namespace strop::cli {
namespace {

struct InvalidateOptions {
  Selection selection;
  bool stale = false;
  bool all = false;
  Destroy destroy;
};

// What goes. Tunings without a winner hold nothing doubtful: --stale leaves them.
struct Chosen {
  std::vector<Entry> entries;
  std::vector<cache::Winner> unfinished;
  std::size_t size() const { return entries.size() + unfinished.size(); }
};

bool stale(const Entry& entry) { return entry.outdated || entry.state.state == engine::State::suspect; }

Chosen choose(cache::Store& store, const InvalidateOptions& options) {
  Machine machine;
  Chosen chosen{selected(store, machine, options.selection), {}};
  if (options.stale)
    std::erase_if(chosen.entries, [](const Entry& entry) { return !stale(entry); });
  else
    chosen.unfinished = selected_unfinished(store, options.selection);
  return chosen;
}

std::string table_of(const Chosen& chosen) {
  std::string text;
  if (!chosen.entries.empty()) text += entries_table(chosen.entries);
  if (!chosen.unfinished.empty()) text += unfinished_table(chosen.unfinished);
  return text;
}

std::string count_of(const Chosen& chosen) {
  if (chosen.unfinished.empty()) return fmt::format("{} entries", chosen.entries.size());
  return fmt::format("{} entries and {} tunings without a winner", chosen.entries.size(), chosen.unfinished.size());
}

void report(const Session& session, const InvalidateOptions& options, const cache::Place& place, const Chosen& chosen,
            bool done) {
  if (session.json) {
    auto json = document("cache invalidate");
    json["path"] = place.path;
    json["dry_run"] = options.destroy.dry_run;
    json["removed"] = done ? chosen.size() : 0;
    json["entries"] = Json::array();
    for (const auto& entry : chosen.entries) json["entries"].push_back(to_json(entry.winner, entry.state));
    json["unfinished"] = unfinished_json(chosen.unfinished);
    print(text_of(json));
    return;
  }
  if (chosen.size() == 0) {
    note(fmt::format("no entries of {} match\n", place.path));
    return;
  }
  print(table_of(chosen));
  note(fmt::format("{} {}\n", count_of(chosen), done ? "removed" : "would be removed"));
}

int run(const Session& session, const InvalidateOptions& options) {
  if (options.all && (options.selection.any() || options.stale)) throw UsageError("--all takes no other condition");
  if (!options.all && !options.selection.any() && !options.stale)
    throw UsageError(
        "say which entries: --stale, --driver, --kernel, --device, --key, --older-than, or --all for every one");
  static_cast<void>(options.selection.filter());
  const auto cache = open_cache(session, options.destroy.dry_run ? Access::look : Access::change);
  Chosen chosen;
  if (cache.exists) chosen = choose(*cache.store, options);
  if (options.destroy.dry_run || chosen.size() == 0) {
    report(session, options, cache.place, chosen, false);
    return kDone;
  }
  if (!options.destroy.yes && !session.json) note(table_of(chosen));
  options.destroy.require_consent(fmt::format("Remove {} from {}?", count_of(chosen), cache.place.path));
  auto winners = chosen.unfinished;
  for (const auto& entry : chosen.entries) winners.push_back(entry.winner);
  const auto removed = cache.store->remove(winners);
  if (removed.size() != winners.size()) {
    throw CacheError(
        fmt::format("{} of {} entries were removed from {}", removed.size(), winners.size(), cache.place.path));
  }
  report(session, options, cache.place, chosen, true);
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
