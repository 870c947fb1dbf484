// The store: the database at its path, and memory for what that one can't take.

#include "cache/store.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <filesystem>
#include <functional>
#include <mutex>

#include <fmt/format.h>

#include "cache/merge.h"
#include "cache/opening.h"
#include "src/base/format.h"
#include "src/base/log.h"

namespace strop::cache {
namespace {

// How long a write waits for a process that has not let go of the database once before, and in all when the store is closed.
constexpr int kImpatientMs = 20, kClosingMs = 1000;
constexpr std::size_t kMostOwed = 4096;

class StoreOnTables : public Store {
 public:
  explicit StoreOnTables(const StoreOptions& options) : options_(options), main_(open_tables(options)), impatient_(main_.held) {}
  ~StoreOnTables() override;

  std::string path() const override { return state().path; }
  bool writable() const override { return state().writable; }
  std::string trouble() const override { return state().trouble; }

  std::optional<Winner> find_winner(const EntryId& id) override;
  std::vector<Winner> winners_of(const EntryId& id) override;
  std::optional<StoredBinary> find_binary(const std::string& code, const std::string& preferred_compiler) override;
  std::vector<StoredTrial> trials_of(const EntryId& id) override;
  bool put_winner(const Winner& winner, const std::optional<StoredBinary>& binary) override;
  bool put_trial(const StoredTrial& trial) override;
  bool put_binary(const StoredBinary& binary, bool kept) override;
  void touch(const EntryId& id) override;
  std::optional<Lease> find_lease(const std::string& scope) override;
  bool claim_lease(const Lease& mine) override;
  bool take_over_lease(const Lease& seen, const Lease& mine) override;
  void release_lease(const std::string& scope, const std::string& owner) override;

  std::vector<Winner> list(const Filter& filter) override;
  std::vector<Winner> unfinished(const Filter& filter) override;
  std::vector<Winner> remove(const std::vector<Winner>& winners) override;
  std::vector<StoredBinary> binaries() override;
  Stats stats() override;
  std::vector<Damage> verify(bool repair) override;
  std::uint64_t prune(std::uint64_t max_bytes) override;

 private:
  // What is known of the main database, by value: any call may find it damaged and open another one.
  struct State {
    std::string path;
    bool writable = false;
    std::string trouble;
  };
  State state() const;
  template <class Ask, class Merge>
  auto read(const char* doing, const Ask& ask, const Merge& merge);
  using Change = std::function<void(Tables&)>;
  bool put(const char* doing, Change change);         // with the lock taken here
  bool try_write(const char* doing, const Change& change) {
    return try_write(doing, change, impatient_ ? kImpatientMs : options_.busy_timeout_ms);
  }
  bool try_write(const char* doing, const Change& change, int patience_ms);
  void keep(const Change& change);                    // in memory
  void settle(int at_most_ms);
  bool ready(int patience_ms);
  bool recover(const SqliteError& error, const char* doing, bool thorough = false);
  std::vector<Damage> examine(bool repair);  // `verify` with the lock held
  template <class Do>
  auto command(const char* doing, const Do& act);
  std::vector<Winner> listed(const Filter& filter, std::vector<Winner> (Tables::*all)());
  void require_writable();

  mutable std::mutex mutex_;
  StoreOptions options_;
  Opened main_;
  Opened overlay_;          // in memory: what the main database could not take; without tables: nothing
  bool only_here_ = false;  // the overlay has something that will never be in the main database
  bool impatient_;          // the last write met a lock that was not let go of in time
  std::deque<Change> owed_;
};

StoreOnTables::State StoreOnTables::state() const {
  const std::lock_guard lock(mutex_);
  return {main_.path, main_.writable, main_.trouble};
}

// True: the main database can be written to. What another process held when it was opened is opened again.
bool StoreOnTables::ready(int patience_ms) {
  if (main_.held) {
    auto options = options_;
    options.path = main_.path;
    options.busy_timeout_ms = patience_ms;
    main_ = open_tables(options);
    impatient_ = impatient_ || main_.held;
  }
  return main_.writable && !main_.held;
}

// True: the database was set aside, or had been by another store, and a new one is open; ask again.
bool StoreOnTables::recover(const SqliteError& error, const char* doing, bool thorough) {
  if ((error.broken() || error.moved()) && main_.writable && !main_.path.empty()) {
    auto options = options_;
    options.path = main_.path;
    main_.tables = open_memory().tables;  // closes the broken one; whatever fails from here on, there are tables to ask
    main_.held = true;                    // and it is opened again before a write
    try {
      const auto aside = error.broken() ? set_aside(options.path, options.busy_timeout_ms, thorough) : std::string{};
      if (!aside.empty())
        log::warn_once("cache-broken:" + options.path, fmt::format("the cache {} is damaged ({}); it was set aside as {} and a new one begun",
                                                                   options.path, error.what(), aside));
    } catch (const SqliteError& failed) {
      log::warn_once("cache-aside:" + options.path, failed.what());
    }
    main_ = open_tables(options);
    impatient_ = impatient_ || main_.held;
    return true;
  }
  log::warn_once(fmt::format("cache-{}:{}", error.code(), main_.path),
                 fmt::format("the cache {} failed {} ({}); what is new is kept in memory for this process", main_.path, doing, error.what()));
  return false;
}

// For the command: damage is set aside and the request carried out on the new database; what can't be is one sentence.
template <class Do>
auto StoreOnTables::command(const char* doing, const Do& act) {
  if (main_.held && !ready(options_.busy_timeout_ms)) throw CacheError(fmt::format("{} failed: {}", doing, main_.trouble));
  main_.tables->set_timeout(options_.busy_timeout_ms);
  for (int attempt = 0;; ++attempt) {
    try {
      return act(*main_.tables);
    } catch (const SqliteError& error) {
      if (attempt == 0 && (error.broken() || error.moved()) && main_.writable && recover(error, doing, true)) continue;
      throw CacheError(fmt::format("{} failed on the cache {}: {}{}", doing, main_.path, error.what(),
                                   error.broken() ? "; `strop cache verify --repair` sets it aside and begins anew" : ""));
    }
  }
}

// Both are asked: the overlay has what the file could not take, the file what other processes stored.
template <class Ask, class Merge>
auto StoreOnTables::read(const char* doing, const Ask& ask, const Merge& merge) {
  decltype(ask(*main_.tables)) kept, stored;
  try {
    if (overlay_.tables) kept = ask(*overlay_.tables);
  } catch (const SqliteError& error) {
    log::warn_once("cache-overlay", fmt::format("what was kept in memory can't be read: {}", error.what()));
  }
  for (int attempt = 0; attempt < 2; ++attempt) {
    try {
      stored = ask(*main_.tables);
      break;
    } catch (const SqliteError& error) {
      if (!recover(error, doing)) break;
    }
  }
  return merge(std::move(kept), std::move(stored));
}

bool StoreOnTables::try_write(const char* doing, const Change& change, int patience_ms) {
  for (int attempt = 0; ready(patience_ms) && attempt < 2; ++attempt) {
    try {
      main_.tables->set_timeout(patience_ms);
      change(*main_.tables);
      if (impatient_) main_.tables->set_timeout(options_.busy_timeout_ms);
      impatient_ = false;
      return true;
    } catch (const SqliteError& error) {
      impatient_ = impatient_ || error.code() == SQLITE_BUSY;
      if (!recover(error, doing)) break;
    }
  }
  return false;
}

void StoreOnTables::keep(const Change& change) {
  try {
    if (!overlay_.tables) overlay_ = open_memory();
    change(*overlay_.tables);
  } catch (const SqliteError& error) {
    log::warn_once("cache-overlay", fmt::format("a result could not even be kept in memory: {}", error.what()));
  }
}

bool StoreOnTables::put(const char* doing, Change change) {
  const std::lock_guard lock(mutex_);
  settle(options_.busy_timeout_ms);
  const bool stored = owed_.empty() && try_write(doing, change);
  // Also where it was stored: what the overlay has must not be older than what is in the file.
  if (!stored || overlay_.tables) keep(change);
  if (stored) {  // counting pages is cheap; past the bound it is a write
    const auto bound = options_.max_bytes;
    if (bound > 0) try_write("keeping to the size bound", [bound](Tables& t) { t.shrink_to(bound); });
    return true;
  }
  if ((impatient_ || !owed_.empty()) && main_.writable && owed_.size() < kMostOwed) owed_.push_back(std::move(change));
  else only_here_ = true;
  return false;
}

// In the order in which they came: losers' binaries go with the winner that comes after their trials. One deadline for all of them.
void StoreOnTables::settle(int at_most_ms) {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + std::chrono::milliseconds(at_most_ms);
  while (!owed_.empty()) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left < 0) return;
    const auto patience = std::min<std::int64_t>(left, impatient_ ? kImpatientMs : at_most_ms);
    const bool written = try_write("writing what was kept in memory", owed_.front(), static_cast<int>(patience));
    if (!written && impatient_) return;
    only_here_ = only_here_ || !written;
    owed_.pop_front();
  }
  if (!only_here_) overlay_ = {};
}

StoreOnTables::~StoreOnTables() {
  try {
    if (owed_.empty()) return;
    impatient_ = false;
    settle(kClosingMs);
    if (!owed_.empty())
      log::warn(fmt::format("{} results could not be written to the cache {} and are lost with this process", owed_.size(), main_.path));
  } catch (...) {  // no room for a sentence either
  }
}

std::optional<Winner> StoreOnTables::find_winner(const EntryId& id) {
  const std::lock_guard lock(mutex_);
  return read("looking up a winner", [&](Tables& t) { return t.find_winner(id); }, later_winner);
}

std::vector<Winner> StoreOnTables::winners_of(const EntryId& id) {
  const std::lock_guard lock(mutex_);
  return read("looking for neighbours", [&](Tables& t) { return t.winners_of(id); }, merge_winners);
}

std::optional<StoredBinary> StoreOnTables::find_binary(const std::string& code, const std::string& preferred_compiler) {
  const std::lock_guard lock(mutex_);
  bool damaged = false;
  auto found = read(
      "reading a binary",
      [&](Tables& t) {
        bool here = false;
        auto answer = t.find_binary(code, preferred_compiler, here);
        damaged = damaged || here;
        return answer;
      },
      [](std::optional<StoredBinary> kept, std::optional<StoredBinary> stored) { return kept ? std::move(kept) : std::move(stored); });
  if (damaged) {
    log::warn_once(fmt::format("cache-checksum:{}:{}", main_.path, code),
                   fmt::format("a binary in the cache {} is damaged (its checksum differs); it is {}made again", main_.path,
                               main_.writable ? "removed and " : ""));
    // This one only: a look at everything takes a minute of somebody's training step, and is what `verify` is for.
    try_write("removing a damaged binary", [code](Tables& t) { t.drop_damaged(code); });
  }
  return found;
}

std::vector<StoredTrial> StoreOnTables::trials_of(const EntryId& id) {
  const std::lock_guard lock(mutex_);
  return read("reading trials", [&](Tables& t) { return t.trials_of(id); }, merge_trials);
}

bool StoreOnTables::put_winner(const Winner& winner, const std::optional<StoredBinary>& binary) {
  return put("storing a winner", [winner, binary](Tables& t) { t.put_winner(winner, binary); });
}

bool StoreOnTables::put_trial(const StoredTrial& trial) {
  return put("storing a trial", [trial](Tables& t) { t.put_trial(trial); });
}

bool StoreOnTables::put_binary(const StoredBinary& binary, bool kept) {
  return put("storing a binary", [binary, kept](Tables& t) { t.put_binary(binary, kept); });
}

// Noted where it can be, never owed: the next use is as good.
void StoreOnTables::touch(const EntryId& id) {
  const std::lock_guard lock(mutex_);
  settle(options_.busy_timeout_ms);
  if (owed_.empty()) try_write("noting a use", [id](Tables& t) { t.touch(id, unix_now()); });
}

std::optional<Lease> StoreOnTables::find_lease(const std::string& scope) {
  const std::lock_guard lock(mutex_);
  return read("looking who tunes", [&](Tables& t) { return t.find_lease(scope); },
              [](const std::optional<Lease>&, std::optional<Lease> stored) { return stored; });
}

bool StoreOnTables::claim_lease(const Lease& mine) {
  const std::lock_guard lock(mutex_);
  bool claimed = true;
  const bool asked = try_write("claiming a lease", [&](Tables& t) { claimed = t.claim_lease(mine); });
  return claimed || !asked;
}

bool StoreOnTables::take_over_lease(const Lease& seen, const Lease& mine) {
  const std::lock_guard lock(mutex_);
  bool taken = true;
  const bool asked = try_write("taking a lease over", [&](Tables& t) { taken = t.take_over_lease(seen, mine); });
  return taken || !asked;
}

void StoreOnTables::release_lease(const std::string& scope, const std::string& owner) {
  const std::lock_guard lock(mutex_);
  try_write("giving a lease back", [&](Tables& t) { t.release_lease(scope, owner); });
}

void StoreOnTables::require_writable() {
  if (ready(options_.busy_timeout_ms)) return;
  throw CacheError(main_.held ? main_.trouble : fmt::format("the cache {} can't be written", main_.path));
}

std::vector<Winner> StoreOnTables::listed(const Filter& filter, std::vector<Winner> (Tables::*all)()) {
  require_well_formed(filter);
  std::vector<Winner> found;
  {
    const std::lock_guard lock(mutex_);
    found = command("listing", [all](Tables& t) { return (t.*all)(); });
  }
  std::erase_if(found, [&](const Winner& winner) { return !matches(winner, filter); });
  return found;
}

std::vector<Winner> StoreOnTables::list(const Filter& filter) { return listed(filter, &Tables::all_winners); }

std::vector<Winner> StoreOnTables::unfinished(const Filter& filter) { return listed(filter, &Tables::unfinished); }

std::vector<Winner> StoreOnTables::remove(const std::vector<Winner>& winners) {
  const std::lock_guard lock(mutex_);
  require_writable();
  impatient_ = false;  // a request of its own: it may wait
  settle(options_.busy_timeout_ms);
  if (!owed_.empty()) throw CacheError(fmt::format("removing entries failed: another process holds the cache {}; try again", main_.path));
  const Change change = [&](Tables& t) { t.remove(winners); };
  command("removing entries", change);
  if (overlay_.tables) keep(change);
  return winners;
}

std::vector<StoredBinary> StoreOnTables::binaries() {
  const std::lock_guard lock(mutex_);
  return command("listing binaries", [](Tables& t) { return t.binaries(); });
}

Stats StoreOnTables::stats() {
  const std::lock_guard lock(mutex_);
  auto stats = command("counting", [](Tables& t) { return t.stats(); });
  stats.path = main_.path;
  std::error_code failed;
  const auto bytes = std::filesystem::file_size(main_.path, failed);
  if (!failed) stats.file_bytes = bytes;
  return stats;
}

std::vector<Damage> StoreOnTables::verify(bool repair) {
  const std::lock_guard lock(mutex_);
  return examine(repair);
}

std::vector<Damage> StoreOnTables::examine(bool repair) {
  const bool change = repair && ready(options_.busy_timeout_ms);
  std::vector<Damage> found;
  try {
    found = main_.tables->verify(change);
  } catch (const SqliteError& error) {
    if (!error.broken()) throw CacheError(fmt::format("checking the cache {} failed: {}", main_.path, error.what()));
    found.push_back({fmt::format("database: {}", error.what()), false});
  }
  const auto left = [](const std::vector<Damage>& all) { return std::any_of(all.begin(), all.end(), [](const Damage& d) { return !d.repaired; }); };
  if (!change || main_.path.empty() || !left(found)) return found;
  recover(SqliteError(SQLITE_CORRUPT, found.front().what), "checking", true);
  const bool whole = command("checking", [](Tables& t) { return t.verify(false).empty(); });
  for (auto& damage : found) damage.repaired = whole;
  return found;
}

std::uint64_t StoreOnTables::prune(std::uint64_t max_bytes) {
  const std::lock_guard lock(mutex_);
  require_writable();
  examine(true);  // VACUUM of a damaged file fails, or carries the damage on
  return command("pruning", [&](Tables& t) -> std::uint64_t {
    const auto before = t.stats().file_bytes;
    t.drop_unreferenced();
    if (max_bytes > 0) t.shrink_to(max_bytes);
    t.vacuum();
    const auto after = t.stats().file_bytes;
    return before > after ? before - after : 0;
  });
}

}  // namespace

std::unique_ptr<Store> Store::open(const StoreOptions& options) { return std::make_unique<StoreOnTables>(options); }

}  // namespace strop::cache
