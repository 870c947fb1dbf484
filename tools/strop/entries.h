#pragma once

// The cache as its subcommands see it: a store that is opened to look or to change, entries with their state, and the
// words that select them. Looking creates nothing.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cache/store.h"
#include "src/engine/entry_state.h"
#include "tools/strop/command.h"
#include "tools/strop/machine.h"

namespace strop::cli {

enum class Access { look, change };

struct OpenCache {
  cache::Place place;
  bool exists = false;  // there is a database; else `store` is null
  std::unique_ptr<cache::Store> store;
};

// Where it is and whether there is something; `store` stays null.
OpenCache find_cache(const Session& session);
// Never creates a database. `change` on one that can't be written throws CacheError.
OpenCache open_cache(const Session& session, Access access);
// "no cache yet at /x/y (rule)": what to say where there is none.
std::string absent_text(const cache::Place& place);

struct Entry {
  cache::Winner winner;
  engine::EntryState state;
  bool outdated = false;  // template or space have changed since: this build never serves it again, on any device
};

// Sorted by kernel and key.
std::vector<Entry> entries_of(cache::Store& store, Machine& machine, const cache::Filter& filter = {});
// By the words of a KEY argument: the beginning of an id (at least 4 hex digits), or fields that must all be in the
// key.
std::vector<Entry> find_entries(cache::Store& store, Machine& machine, const std::vector<std::string>& words);
// KEY words to the text of a Filter's key; UsageError for what is neither an id nor fields.
std::string key_text(const std::vector<std::string>& words);

// What no word of a command line can be: an empty value is not the same as none.
inline const std::string kNotGiven(1, '\0');

// The options that select entries, the same for every subcommand that has them.
struct Selection {
  std::string kernel = kNotGiven, device = kNotGiven, driver = kNotGiven, older_than = kNotGiven;
  std::string key = kNotGiven;
  bool any() const {
    for (const auto* value : {&kernel, &device, &driver, &older_than, &key})
      if (*value != kNotGiven) return true;
    return false;
  }
  cache::Filter filter() const;  // UsageError for an empty or malformed value
  // Ids may be given in part, which a Filter does not know.
  bool admits_id(const std::string& handle) const;
};
void add_selection(Declaration& subcommand, Selection& selection);
// Entries that a selection names, ids given in part too.
std::vector<Entry> selected(cache::Store& store, Machine& machine, const Selection& selection);

// One line an entry, as `cache list` shows them.
std::string entries_table(const std::vector<Entry>& entries);
// "12.3 us", "1.20 ms": three digits.
std::string time_text(double microseconds);

}  // namespace strop::cli
