#include "tools/strop/entries.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "src/base/format.h"
#include "src/base/settings.h"
#include "tools/strop/arguments.h"
#include "tools/strop/declaration.h"
#include "tools/strop/terminal.h"
#include "tools/strop/text_table.h"

namespace strop::cli {
namespace {

constexpr std::size_t kShortestId = 4;

bool is_id(const std::string& word) {
  return word.size() >= kShortestId && word.find_first_not_of("0123456789abcdef") == std::string::npos;
}

TextTable::Style style_of(engine::State state) {
  if (state == engine::State::suspect) return [](std::string_view text) { return warning(text); };
  if (state == engine::State::foreign) return [](std::string_view text) { return dim(text); };
  return {};
}

}  // namespace

OpenCache find_cache(const Session& session) {
  OpenCache open;
  const auto wanted = session.cache.empty() ? settings::text("cache").value_or("") : session.cache;
  if (wanted == ":memory:") {
    open.place.rule = "asked for :memory:";
    return open;
  }
  open.place = cache::find_place(session.cache, false);
  std::error_code error;
  open.exists = !open.place.path.empty() && (std::filesystem::exists(open.place.path, error) || error);
  return open;
}

OpenCache open_cache(const Session& session, Access access) {
  auto open = find_cache(session);
  if (!open.exists) return open;
  cache::StoreOptions options;
  options.path = open.place.path;
  options.read_only = access == Access::look;
  open.store = cache::Store::open(options);
  // What can't be read is not served, and not changed: the store is then an empty one in memory, and says why.
  if (open.store->path().empty() || (access == Access::change && !open.store->writable()))
    throw CacheError(open.store->trouble());
  open.place.path = open.store->path();  // a file beside it where what is there is another's
  return open;
}

std::string absent_text(const cache::Place& place) {
  if (place.path.empty()) return fmt::format("there is no cache: everything is kept in memory only ({})", place.rule);
  return fmt::format("there is no cache yet at {} ({}); `strop warmup` makes it", place.path, place.rule);
}

std::vector<Entry> entries_of(cache::Store& store, Machine& machine, const cache::Filter& filter) {
  std::vector<Entry> entries;
  for (auto& winner : store.list(filter)) {
    Entry entry{std::move(winner), {}, false};
    entry.state = machine.state_of(entry.winner);
    entry.outdated = machine.outdated(entry.winner);
    entries.push_back(std::move(entry));
  }
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::pair(a.winner.id.kernel, a.winner.id.key.str()) < std::pair(b.winner.id.kernel, b.winner.id.key.str());
  });
  return entries;
}

std::vector<Entry> find_entries(cache::Store& store, Machine& machine, const std::vector<std::string>& words) {
  if (fmt::format("{}", fmt::join(words, "")).find_first_not_of(" ,") == std::string::npos)
    throw UsageError("KEY: needs an id or fields, and is empty");
  Selection selection;
  selection.key = fmt::format("{}", fmt::join(words, " "));
  return selected(store, machine, selection);
}

std::string key_text(const std::vector<std::string>& words) {
  auto text = fmt::format("{}", fmt::join(words, " "));
  std::replace(text.begin(), text.end(), ',', ' ');
  if (is_id(text)) return text;
  if (!Key::parse(text))
    throw UsageError(
        fmt::format("'{}' is no key: give an id as `strop cache list` shows it ({} hex digits or more), or fields like "
                    "D=2048 W=4",
                    text, kShortestId));
  return text;
}

cache::Filter Selection::filter() const {
  const auto value = [](const char* option, const std::string& given) {
    if (given.empty()) throw UsageError(fmt::format("{}: needs a value", option));
    return given == kNotGiven ? std::string() : given;
  };
  cache::Filter filter;
  filter.kernel = value("--kernel", kernel);
  filter.device = value("--device", device);
  filter.driver = value("--driver", driver);
  if (const auto given = value("--key", key); !given.empty()) {
    const auto text = key_text({given});
    if (!is_id(text)) filter.key = text;  // ids may be given in part: `selected` compares them
  }
  if (const auto age = value("--older-than", older_than); !age.empty())
    filter.older_than_s = parse_age("--older-than", age);
  try {
    cache::require_well_formed(filter);
  } catch (const CacheError& error) {
    throw UsageError(fmt::format("--driver: {}", error.what()));  // the key was read above
  }
  return filter;
}

void add_selection(Declaration& subcommand, Selection& selection) {
  // Not to be shown as a default.
  selection = {"", "", "", "", ""};
  subcommand.heading("Which entries (all conditions must hold)");
  subcommand.option("--kernel", selection.kernel, "kernel by name, * and ? allowed: 'causal_conv1d_*'", "NAME");
  subcommand.option("--key", selection.key, "one entry's id, or fields of the key: 'D=2048 W=4'", "KEY");
  subcommand.option("--device", selection.device, "timed on a device whose name has this in it: 'H200'", "TEXT");
  subcommand.option("--driver", selection.driver, "timed with such a driver: '<590', '<=580.95', '=580.95.05'", "COND");
  subcommand.option("--older-than", selection.older_than, "tuned or revalidated longer ago: 12h, 30d, 2w", "AGE");
  selection = {};
}

bool Selection::admits_id(const std::string& handle) const {
  const auto text = key == kNotGiven ? std::string() : key_text({key});
  return !is_id(text) || handle.starts_with(text);
}

std::vector<Entry> selected(cache::Store& store, Machine& machine, const Selection& selection) {
  auto entries = entries_of(store, machine, selection.filter());
  std::erase_if(entries, [&](const Entry& entry) { return !selection.admits_id(cache::handle(entry.winner.id)); });
  return entries;
}

std::string time_text(double microseconds) {
  if (microseconds <= 0) return "-";
  if (microseconds >= 1e6) return fmt::format("{:.2f} s", microseconds / 1e6);
  if (microseconds >= 1e3) return fmt::format("{:.3f} ms", microseconds / 1e3);
  return fmt::format("{:.1f} us", microseconds);
}

std::string entries_table(const std::vector<Entry>& entries) {
  TextTable table({"id", "kernel", "key", "winner", ">median", "state", "driver", "device", "tuned"});
  for (const auto& [winner, state, outdated] : entries) {
    table.row({cache::handle(winner.id), winner.id.kernel, winner.id.key.str(), winner.config.str(),
               time_text(winner.time.median_us), std::string(engine::name(state.state)), winner.environment.driver,
               winner.environment.device_name, utc_text(winner.tuned_at)},
              style_of(state.state));
  }
  return table.text();
}

}  // namespace strop::cli
