// The store: the database at its path, and memory for what that one can't take.

#include "cache/store.h"

#include <algorithm>
#include <deque>
#include <filesystem>
#include <functional>
#include <mutex>

#include <fmt/format.h>

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
  explicit StoreOnTables(const StoreOptions& options) : options_(options), main_(open_tables(options)) {}
  ~StoreOnTables() override;

  const std::string& path() const override { return main_.path; }
  bool writable() const override { return main_.writable; }
  std::string trouble() const override { return main_.trouble; }

  std::optional<Winner> find_winner(const EntryId& id) override;
  std::vector<Winner> winners_of(const EntryId& id) override;
  std::optional<StoredBinary> find_binary(const std::string& code, const std::string& preferred_compiler) override;
  std::vector<StoredTrial> trials_of(const EntryId& id) override;
  bool put_winner(const Winner& winner, const std::optional<StoredBinary>& binary) override;
  bool put_trial(const StoredTrial& trial) override;
  bool put_binary(const StoredBinary& binary) override;
  void touch(const EntryId& id) override;

  std::vector<Winner> list(const Filter& filter) override;
  std::vector<Winner> unfinished(const Filter& filter) override;
  std::vector<Winner> remove(const std::vector<Winner>& winners) override;
  std::vector<StoredBinary> binaries() override;
  Stats stats() override;
  std::vector<Damage> verify(bool repair) override;
  std::uint64_t prune(std::uint64_t max_bytes) override;

 private:
  template <class Result, class Ask>
  Result read(const char* doing, Result nothing, const Ask& ask);
  using Change = std::function<void(Tables&)>;
  // `owed`: tried again later when it can't be written now.
  bool write(const char* doing, Change change, bool owed = true);
  bool try_write(const char* doing, const Change& change);
  void settle();
  bool recover(const SqliteError& error, const char* doing, bool thorough = false);
  std::vector<Damage> examine(bool repair);  // `verify` with the lock held
  template <class Do>
  auto command(const char* doing, const Do& act);
  Tables& overlay();
  void require_writable() const;

  std::mutex mutex_;
  StoreOptions options_;
  Opened main_;
  Opened overlay_;  // in memory: what the main database could not take
  bool impatient_ = false;  // the last write met a lock that was not let go of in time
  std::deque<Change> owed_;
};

Tables& StoreOnTables::overlay() {
  if (!overlay_.tables) overlay_ = open_memory();
  return *overlay_.tables;
}

// True: the database was set aside and a new one is open; ask again.
bool StoreOnTables::recover(const SqliteError& error, const char* doing, bool thorough) {
  if (error.broken() && main_.writable && !main_.path.empty()) {
    auto options = options_;
    options.path = main_.path;
    main_.tables.reset();  // closes the broken one
    try {
      if (const auto aside = set_aside(options.path, options.busy_timeout_ms, thorough); !aside.empty())
        log::warn_once("cache-broken:" + options.path, fmt::format("the cache {} is damaged ({}); it was set aside as {} and a new one begun",
                                                                   options.path, error.what(), aside));
    } catch (const SqliteError& failed) {
      log::warn_once("cache-aside:" + options.path, failed.what());
    }
    main_ = open_tables(options);
    return true;
  }
  log::warn_once(fmt::format("cache-{}:{}", error.code(), main_.path),
                 fmt::format("the cache {} failed {} ({}); what is new is kept in memory for this process", main_.path, doing, error.what()));
  return false;
}

// For the command: damage is set aside and the request carried out on the new database; what can't be is one sentence.
template <class Do>
auto StoreOnTables::command(const char* doing, const Do& act) {
  if (impatient_) main_.tables->set_timeout(options_.busy_timeout_ms);
  for (int attempt = 0;; ++attempt) {
    try {
      return act(*main_.tables);
    } catch (const SqliteError& error) {
      if (attempt == 0 && error.broken() && main_.writable && recover(error, doing, true)) continue;
      throw CacheError(fmt::format("{} failed on the cache {}: {}{}", doing, main_.path, error.what(),
                                   error.broken() ? "; `strop cache verify --repair` sets it aside and begins anew" : ""));
    }
  }
}

// The overlay is asked first: it has what is newer than the file.
template <class Result, class Ask>
Result StoreOnTables::read(const char* doing, Result nothing, const Ask& ask) {
  const std::lock_guard lock(mutex_);
  for (int attempt = 0; attempt < 2; ++attempt) {
    try {
      if (overlay_.tables)
        if (auto found = ask(*overlay_.tables); found != nothing) return found;
      return ask(*main_.tables);
    } catch (const SqliteError& error) {
      if (!recover(error, doing)) break;
    }
  }
  return nothing;
}

bool StoreOnTables::try_write(const char* doing, const Change& change) {
  for (int attempt = 0; main_.writable && attempt < 2; ++attempt) {
    try {
      if (impatient_) main_.tables->set_timeout(kImpatientMs);
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

bool StoreOnTables::write(const char* doing, Change change, bool owed) {
  const std::lock_guard lock(mutex_);
  settle();
  if (owed_.empty() && try_write(doing, change)) return true;
  try {
    change(overlay());
  } catch (const SqliteError& error) {
    log::warn_once("cache-overlay", fmt::format("a result could not even be kept in memory: {}", error.what()));
  }
  if (owed && impatient_ && main_.writable && owed_.size() < kMostOwed) owed_.push_back(std::move(change));
  return false;
}

// In the order in which they came: losers' binaries go with the winner that comes after their trials.
void StoreOnTables::settle() {
  while (!owed_.empty()) {
    const bool written = try_write("writing what was kept in memory", owed_.front());
    if (!written && impatient_) return;
    owed_.pop_front();
  }
}

StoreOnTables::~StoreOnTables() {
  try {
    if (owed_.empty()) return;
    impatient_ = false;
    main_.tables->set_timeout(kClosingMs);
    settle();
    if (!owed_.empty())
      log::warn(fmt::format("{} results could not be written to the cache {} and are lost with this process", owed_.size(), main_.path));
  } catch (...) {  // no room for a sentence either
  }
}

// Comparable wrappers, so that `read` can tell an answer from nothing.
template <class T>
struct Found {
  std::optional<T> value;
  bool operator!=(const Found& other) const { return value.has_value() != other.value.has_value(); }
};
template <class T>
struct Many {
  std::vector<T> values;
  bool operator!=(const Many& other) const { return values.size() != other.values.size(); }
};

std::optional<Winner> StoreOnTables::find_winner(const EntryId& id) {
  return read("looking up a winner", Found<Winner>{}, [&](Tables& t) { return Found<Winner>{t.find_winner(id)}; }).value;
}

std::vector<Winner> StoreOnTables::winners_of(const EntryId& id) {
  return read("looking for neighbours", Many<Winner>{}, [&](Tables& t) { return Many<Winner>{t.winners_of(id)}; }).values;
}

std::optional<StoredBinary> StoreOnTables::find_binary(const std::string& code, const std::string& preferred_compiler) {
  bool damaged = false;
  auto found = read("reading a binary", Found<StoredBinary>{}, [&](Tables& t) {
    bool here = false;
    Found<StoredBinary> answer{t.find_binary(code, preferred_compiler, here)};
    damaged = damaged || here;
    return answer;
  });
  if (damaged) {
    log::warn_once(fmt::format("cache-checksum:{}:{}", main_.path, code),
                   fmt::format("a binary in the cache {} is damaged (its checksum differs); it is removed and made again", main_.path));
    write("removing a damaged binary", [](Tables& t) { t.verify(true); }, false);
  }
  return found.value;
}

std::vector<StoredTrial> StoreOnTables::trials_of(const EntryId& id) {
  return read("reading trials", Many<StoredTrial>{}, [&](Tables& t) { return Many<StoredTrial>{t.trials_of(id)}; }).values;
}

bool StoreOnTables::put_winner(const Winner& winner, const std::optional<StoredBinary>& binary) {
  const bool stored = write("storing a winner", [winner, binary](Tables& t) { t.put_winner(winner, binary); });
  if (stored && options_.max_bytes > 0) write("keeping to the size bound", [bound = options_.max_bytes](Tables& t) { t.shrink_to(bound); }, false);
  return stored;
}

bool StoreOnTables::put_trial(const StoredTrial& trial) {
  return write("storing a trial", [trial](Tables& t) { t.put_trial(trial); });
}

bool StoreOnTables::put_binary(const StoredBinary& binary) {
  return write("storing a binary", [binary](Tables& t) { t.put_binary(binary, true); });
}

void StoreOnTables::touch(const EntryId& id) {
  if (!main_.writable) return;
  write("noting a use", [id](Tables& t) { t.touch(id, unix_now()); }, false);
}

void StoreOnTables::require_writable() const {
  if (!main_.writable) throw CacheError(fmt::format("the cache {} can't be written", main_.path));
}

std::vector<Winner> StoreOnTables::list(const Filter& filter) {
  require_well_formed(filter);
  std::vector<Winner> found;
  {
    const std::lock_guard lock(mutex_);
    found = command("listing", [](Tables& t) { return t.all_winners(); });
  }
  std::erase_if(found, [&](const Winner& winner) { return !matches(winner, filter); });
  return found;
}

std::vector<Winner> StoreOnTables::unfinished(const Filter& filter) {
  require_well_formed(filter);
  std::vector<Winner> found;
  {
    const std::lock_guard lock(mutex_);
    found = command("listing", [](Tables& t) { return t.unfinished(); });
  }
  std::erase_if(found, [&](const Winner& winner) { return !matches(winner, filter); });
  return found;
}

std::vector<Winner> StoreOnTables::remove(const std::vector<Winner>& winners) {
  require_writable();
  const std::lock_guard lock(mutex_);
  command("removing entries", [&](Tables& t) { t.remove(winners); });
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
  const bool change = repair && main_.writable;
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
  require_writable();
  const std::lock_guard lock(mutex_);
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
