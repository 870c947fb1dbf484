// strop cache list: one line an entry.

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "tools/strop/declaration.h"
#include "tools/strop/entries.h"
#include "tools/strop/json_values.h"
#include "tools/strop/terminal.h"
#include "tools/strop/unfinished.h"

namespace strop::cli {
namespace {

struct ListOptions {
  Selection selection;
  bool suspect = false;
  bool unfinished = false;
};

std::string footer_of(const std::vector<Entry>& entries, const cache::Place& place) {
  const auto count = [&](engine::State state) {
    return std::count_if(entries.begin(), entries.end(),
                         [&](const Entry& entry) { return entry.state.state == state; });
  };
  auto text = fmt::format("{} entries in {}: {} current, {} suspect, {} foreign\n", entries.size(), place.path,
                          count(engine::State::current), count(engine::State::suspect), count(engine::State::foreign));
  if (count(engine::State::suspect) > 0)
    text += "suspect: served as they are; `strop cache revalidate` times the best few of each again\n";
  return text;
}

void show(const std::vector<Entry>& entries, const std::vector<cache::Winner>& unfinished, const ListOptions& options, const cache::Place& place) {
  if (options.unfinished) {
    if (!unfinished.empty()) print(unfinished_table(unfinished));
    note(fmt::format("{} tunings without a winner in {}\n", unfinished.size(), place.path));
    return;
  }
  if (entries.empty()) {
    note(fmt::format("no entries in {}{}\n", place.path, options.selection.any() || options.suspect ? " match" : ""));
  } else {
    print(entries_table(entries));
    note(footer_of(entries, place));
  }
  if (!unfinished.empty())
    note(fmt::format("{} tunings have trials and no winner; `strop cache list --unfinished` shows them\n", unfinished.size()));
}

int run(const Session& session, const ListOptions& options) {
  const auto cache = open_cache(session, Access::look);
  Machine machine;
  std::vector<Entry> entries;
  std::vector<cache::Winner> unfinished;
  if (cache.exists) {
    entries = selected(*cache.store, machine, options.selection);
    unfinished = selected_unfinished(*cache.store, options.selection);
  } else {
    static_cast<void>(options.selection.filter());  // a bad condition is refused all the same
  }
  if (options.suspect)
    std::erase_if(entries, [](const Entry& entry) { return entry.state.state != engine::State::suspect; });

  if (session.json) {
    auto json = document("cache list");
    json["path"] = cache.place.path;
    json["entries"] = Json::array();
    for (const auto& entry : entries) json["entries"].push_back(to_json(entry.winner, entry.state));
    json["unfinished"] = unfinished_json(unfinished);
    print(text_of(json));
  } else if (!cache.exists) {
    note(absent_text(cache.place) + "\n");
  } else {
    show(entries, unfinished, options, cache.place);
  }
  return kDone;
}

}  // namespace

void add_cache_list(Declaration& group, const Session& session) {
  auto list = group.subcommand("list", "One line an entry: what won, how fast it is, whether it still holds here");
  auto options = std::make_shared<ListOptions>();
  add_selection(list, options->selection);
  list.flag("--suspect", options->suspect, "only entries that a driver or compiler change made doubtful");
  list.flag("--unfinished", options->unfinished, "tunings that have trials and no winner, and no entries");
  list.json().run([options, &session] { return run(session, *options); });
}

}  // namespace strop::cli
