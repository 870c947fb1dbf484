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

// The options that select entries, the same for every subcommand that has them.
struct Selection {
  std::string kernel, device, driver, older_than;
  std::string key;
  bool any() const {
    return !(kernel.empty() && device.empty() && driver.empty() && older_than.empty() && key.empty());
  }
  cache::Filter filter() const;
};
void add_selection(Declaration& subcommand, Selection& selection);
// Entries that a selection names, ids given in part too.
std::vector<Entry> selected(cache::Store& store, Machine& machine, const Selection& selection);

// One line an entry, as `cache list` shows them.
std::string entries_table(const std::vector<Entry>& entries);
// "12.3 us", "1.20 ms": three digits.
std::string time_text(double microseconds);

}  // namespace strop::cli
