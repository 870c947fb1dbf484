#include "cache/opening.h"

#include <unistd.h>

#include <filesystem>

#include <fmt/format.h>

#include "cache/file_system.h"
#include "cache/schema.h"
#include "cache/write_lock.h"
#include "src/base/format.h"
#include "src/base/log.h"

namespace strop::cache {
namespace {

namespace fs = std::filesystem;

// Reading the schema and one page of each table shows most damage; the rest shows when it is read, and is dealt with then.
void look(Database& database) {
  database.number("SELECT count(*) FROM sqlite_master");
  database.number("SELECT count(*) FROM winner_v1");
  database.number("SELECT count(*) FROM binary_v1");
}

void set_pragmas(Database& database, bool network) {
  // WAL needs one host; elsewhere a rollback journal does, slowly.
  database.run(network ? "PRAGMA journal_mode = TRUNCATE" : "PRAGMA journal_mode = WAL");
  database.run("PRAGMA synchronous = NORMAL");
  database.run("PRAGMA foreign_keys = OFF");
  database.run("PRAGMA cell_size_check = ON");
}

std::unique_ptr<Tables> tables_on(Database database, const std::string& path, int timeout_ms) {
  return std::make_unique<Tables>(std::move(database), path, timeout_ms);
}

// Another's database stays; ours goes beside it.
std::string beside(const std::string& path) { return fmt::format("{}.strop{}", path, kFormat); }

Opened open_writable(const StoreOptions& options, const std::string& path, bool may_step_aside) {
  if (const auto parent = fs::path(path).parent_path(); !parent.empty()) {
    std::error_code ignored;  // opening says what is wrong
    fs::create_directories(parent, ignored);
  }
  const bool network = on_network_file_system(path);
  Database database(path, Database::Mode::read_write, options.busy_timeout_ms);
  const auto kind = kind_of(database);
  if (kind == Kind::foreign || kind == Kind::newer) {
    if (!may_step_aside) throw SqliteError(SQLITE_CANTOPEN, fmt::format("{} is not this strop's cache either", path));
    log::warn_once("cache-kind:" + path,
                   fmt::format("{} is {}; it is left alone and {} is used instead", path,
                               kind == Kind::newer ? "the cache of a later strop" : "the database of another application", beside(path)));
    return open_writable(options, beside(path), false);
  }
  const WriteLock lock(path, options.busy_timeout_ms);
  set_pragmas(database, network);
  if (kind == Kind::empty) {
    Transaction transaction(database);
    if (kind_of(database) == Kind::empty) create_schema(database);  // another process may have been first
    transaction.commit();
    std::error_code ignored;
    fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write, ignored);
  }
  look(database);
  return {tables_on(std::move(database), path, options.busy_timeout_ms), path, true};
}

Opened open_readable(const StoreOptions& options, const std::string& path) {
  // A WAL database in a folder that can't be written opens only as immutable.
  for (const auto mode : {Database::Mode::read_only, Database::Mode::immutable}) {
    try {
      Database database(path, mode, options.busy_timeout_ms);
      if (kind_of(database) != Kind::ours) throw SqliteError(SQLITE_CANTOPEN, fmt::format("{} is not a cache of this strop's format", path));
      look(database);
      return {tables_on(std::move(database), {}, options.busy_timeout_ms), path, false};
    } catch (const SqliteError& error) {
      if (mode == Database::Mode::immutable || error.broken()) throw;
    }
  }
  throw SqliteError(SQLITE_CANTOPEN, path);
}

bool is_broken(const std::string& path, int timeout_ms) {
  try {
    Database database(path, Database::Mode::read_write, timeout_ms);
    if (kind_of(database) == Kind::ours) look(database);
    return false;
  } catch (const SqliteError& error) {
    return error.broken() || (error.code() == SQLITE_ERROR && std::string(error.what()).find("no such table") != std::string::npos);
  }
}

Opened repair(const StoreOptions& options, const std::string& why) {
  const auto aside = set_aside(options.path, options.busy_timeout_ms);
  if (!aside.empty())
    log::warn_once("cache-broken:" + options.path,
                   fmt::format("the cache {} is damaged ({}); it was set aside as {} and a new one begun", options.path, why, aside));
  return open_writable(options, options.path, true);
}

Opened fall_back(const StoreOptions& options, const std::string& why) {
  try {
    auto opened = open_readable(options, options.path);
    log::warn_once("cache-readonly:" + options.path, fmt::format("the cache {} can't be written ({}); what it has is used, what is new is kept in memory", options.path, why));
    return opened;
  } catch (const SqliteError&) {
    log::warn_once("cache-unusable:" + options.path,
                   fmt::format("the cache {} can't be used ({}); everything works, but nothing is remembered past this process. Set STROP_CACHE to a place that can be written", options.path, why));
    return open_memory();
  }
}

}  // namespace

Opened open_memory() {
  Database database({}, Database::Mode::memory, 0);
  {
    Transaction transaction(database);
    create_schema(database);
    transaction.commit();
  }
  return {tables_on(std::move(database), {}, 0), {}, true};
}

std::string set_aside(const std::string& path, int timeout_ms) {
  const WriteLock lock(path, timeout_ms);
  if (!is_broken(path, timeout_ms)) return {};
  std::string stamp = utc_text(unix_now());
  std::erase(stamp, ':');
  std::string name = fmt::format("{}.broken-{}", path, stamp);
  std::error_code ignored;
  for (int n = 1; fs::exists(name, ignored); ++n) name = fmt::format("{}.broken-{}-{}", path, stamp, n);
  if (::rename(path.c_str(), name.c_str()) != 0) throw SqliteError(SQLITE_CANTOPEN, fmt::format("{} could not be set aside as {}", path, name));
  for (const char* journal : {"-wal", "-shm", "-journal"}) ::rename((path + journal).c_str(), (name + journal).c_str());
  return name;
}

Opened open_tables(const StoreOptions& options) {
  if (options.path.empty()) return open_memory();
  try {
    if (options.read_only) return open_readable(options, options.path);
    return open_writable(options, options.path, true);
  } catch (const SqliteError& error) {
    if (options.read_only) {
      if (fs::exists(options.path)) log::warn_once("cache-unreadable:" + options.path, fmt::format("the cache {} can't be read: {}", options.path, error.what()));
      return open_memory();
    }
    const bool no_table = error.code() == SQLITE_ERROR && std::string(error.what()).find("no such table") != std::string::npos;
    if (!error.broken() && !no_table) return fall_back(options, error.what());
    try {
      return repair(options, error.what());
    } catch (const SqliteError& again) {
      return fall_back(options, again.what());
    }
  }
}

}  // namespace strop::cache
