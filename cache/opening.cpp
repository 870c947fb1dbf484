#include "cache/opening.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>

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
  database.number("SELECT count(*) FROM entry_v1, environment_v1, trial_v1 WHERE 0");  // are they there?
}

bool is_damage(const SqliteError& error) {
  return error.broken() || (error.code() == SQLITE_ERROR && std::string(error.what()).find("no such table") != std::string::npos);
}

// A damaged database may still say whose it is: the application id is at byte 68 of the file (big-endian).
bool header_names_another(const std::string& path) {
  try {
    const auto header = Database(path, Database::Mode::read_only, 0).head(72);
    if (!header.starts_with("SQLite format 3")) return false;
    std::int64_t application = 0;
    for (std::size_t at = 68; at < 72; ++at) application = application << 8 | static_cast<unsigned char>(header[at]);
    return application != 0 && application != kApplicationId;
  } catch (const SqliteError&) {
    return false;  // can't be opened: says nothing
  }
}

// One name for one file: SQLite keeps its journals beside the file that a link leads to, and there must be one lock.
std::string real_path(const std::string& path) {
  std::error_code failed;
  auto at = fs::path(path);
  for (int links = 0; links < 40 && fs::is_symlink(at, failed); ++links) {
    const auto target = fs::read_symlink(at, failed);
    if (failed) return path;
    at = at.parent_path() / target;  // an absolute target replaces
  }
  return fs::is_symlink(at, failed) ? path : at.string();
}

// Opening a FIFO would wait for ever, and reading a device has effects.
void require_a_file(const std::string& path) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0) {
    if (errno == ELOOP) throw SqliteError(SQLITE_CANTOPEN, fmt::format("{} is a link in a circle of links", path));
    return;  // opening says what is wrong
  }
  if (S_ISDIR(facts.st_mode)) throw SqliteError(SQLITE_CANTOPEN, fmt::format("{} is a folder, no database file", path));
  if (!S_ISREG(facts.st_mode)) throw SqliteError(SQLITE_CANTOPEN, fmt::format("{} is no regular file but a pipe, device or socket", path));
}

std::string held_by_another(const std::string& path, const std::string& why) {
  return fmt::format("{} is held by another process ({}); try again when that one has ended", path, why);
}

// What helps a command that can't serve what is there.
std::string trouble_of(const std::string& path, const SqliteError& error) {
  constexpr const char* kElsewhere = "name another cache with --cache or STROP_CACHE";
  if (is_damage(error))
    return fmt::format("{} can't be read as a cache ({}); a warmup, or `strop cache verify --repair`, sets it aside and begins anew", path, error.what());
  if (error.code() == SQLITE_BUSY) return held_by_another(path, error.what());
  struct stat facts {};
  if (::stat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode) && ::access(path.c_str(), R_OK) != 0)
    return fmt::format("{} may not be read by this user: let its owner give the permission (chmod u+rw), or {}", path, kElsewhere);
  return fmt::format("{} can't be read as a cache: {}; {}", path, error.what(), kElsewhere);
}

void set_pragmas(Database& database, bool network) {
  // WAL needs one host; elsewhere a rollback journal does, slowly.
  database.run(network ? "PRAGMA journal_mode = TRUNCATE" : "PRAGMA journal_mode = WAL");
  database.run("PRAGMA synchronous = NORMAL");
  database.run("PRAGMA foreign_keys = OFF");
  database.run("PRAGMA cell_size_check = ON");
}

bool is_empty_or_gone(const std::string& path) {
  struct stat facts {};
  return ::stat(path.c_str(), &facts) != 0 || facts.st_size == 0;
}

// Who finds no file, or an empty one, may have come between the two renames of a `set_aside`, and SQLite removes the journal beside an
// empty file: such a file is made and opened under the writers' lock only.
Database open_or_make(const StoreOptions& options, const std::string& path, std::optional<WriteLock>& lock) {
  if (!is_empty_or_gone(path)) {
    try {
      return {path, Database::Mode::existing, options.busy_timeout_ms};
    } catch (const SqliteError&) {
      if (!is_empty_or_gone(path)) throw;
    }
  }
  lock.emplace(path, options.busy_timeout_ms);
  // 0600 from the first moment; no descriptor, whose closing would drop this process's locks on the file.
  static_cast<void>(::mknod(path.c_str(), S_IFREG | 0600, 0));
  return {path, Database::Mode::create, options.busy_timeout_ms};
}

// `lock_path`: see Tables.
Opened opened_on(Database database, const std::string& lock_path, int timeout_ms) {
  Opened opened;
  opened.tables = std::make_unique<Tables>(std::move(database), lock_path, timeout_ms);
  return opened;
}

// Another's database stays; ours goes beside it.
std::string beside(const std::string& path) { return fmt::format("{}.strop{}", path, kFormat); }

[[noreturn]] void refuse_writing(const std::string& path) {
  throw SqliteError(SQLITE_READONLY, fmt::format("{} may not be written", path));
}

struct Attempt {
  Kind kind = Kind::ours;
  Opened opened;  // empty unless ours
};

Attempt open_writable(const StoreOptions& options, const std::string& path) {
  if (const auto parent = fs::path(path).parent_path(); !parent.empty()) {
    std::error_code ignored;  // opening says what is wrong
    fs::create_directories(parent, ignored);
  }
  require_a_file(path);
  const bool network = on_network_file_system(path);
  std::optional<WriteLock> lock;
  auto database = open_or_make(options, path, lock);
  const auto kind = kind_of(database);
  if (kind == Kind::foreign || kind == Kind::newer) return {kind, {}};
  if (sqlite3_db_readonly(database.handle(), "main") == 1) refuse_writing(path);  // SQLite opened it all the same
  // Nothing is changed in a database that is as it should be: a node's processes open it without waiting for one another.
  const bool changes = kind == Kind::empty || (database.text("PRAGMA journal_mode") == "wal") == network;
  if (changes && !lock) lock.emplace(path, options.busy_timeout_ms);
  if (kind == Kind::empty) {  // before WAL: on a full disk a rollback leaves an empty file, which is an empty cache
    Transaction transaction(database);
    if (kind_of(database) == Kind::empty) create_schema(database);  // another process may have been first
    transaction.commit();
  }
  set_pragmas(database, network);
  look(database);
  auto opened = opened_on(std::move(database), path, options.busy_timeout_ms);
  opened.path = path;
  return {Kind::ours, std::move(opened)};
}

// No tables yet: what a reader sees is an empty cache.
Opened open_nothing(const std::string& path) {
  auto opened = open_memory();
  opened.path = path;
  opened.writable = false;
  return opened;
}

Attempt open_readable(const StoreOptions& options, const std::string& path) {
  require_a_file(path);
  std::error_code failed;
  if (is_empty_or_gone(path) && fs::exists(path, failed)) return {Kind::ours, open_nothing(path)};  // SQLite would remove its journal
  // A WAL database in a folder that can't be written opens only as immutable.
  for (const auto mode : {Database::Mode::read_only, Database::Mode::immutable}) {
    try {
      Database database(path, mode, options.busy_timeout_ms);
      const auto kind = kind_of(database);
      if (kind == Kind::empty) return {Kind::ours, open_nothing(path)};
      if (kind != Kind::ours) return {kind, {}};
      look(database);
      auto opened = opened_on(std::move(database), {}, options.busy_timeout_ms);
      opened.path = path;
      opened.writable = false;
      return {Kind::ours, std::move(opened)};
    } catch (const SqliteError& error) {
      if (error.broken() && header_names_another(path)) return {Kind::foreign, {}};
      // `immutable` reads without locks: not while another process writes, nor over a failing disk.
      const bool by_permission = error.code() == SQLITE_CANTOPEN || error.code() == SQLITE_READONLY;
      if (mode == Database::Mode::immutable || !by_permission) throw;
    }
  }
  throw SqliteError(SQLITE_CANTOPEN, path);
}

// Reads everything: damage that was met in one page must be found again.
bool is_broken(const std::string& path, int timeout_ms, bool thorough) {
  if (header_names_another(path)) return false;
  try {
    Database database(path, Database::Mode::existing, timeout_ms);
    if (kind_of(database) != Kind::ours) return false;
    look(database);
    if (database.text("PRAGMA integrity_check(1)") != "ok") return true;
    return thorough && !Tables(std::move(database), {}, timeout_ms).verify(false).empty();
  } catch (const SqliteError& error) {
    return is_damage(error);
  }
}

Attempt open_repaired(const StoreOptions& options, const std::string& path) {
  try {
    return open_writable(options, path);
  } catch (const SqliteError& error) {
    if (!is_damage(error)) throw;
    if (header_names_another(path)) return {Kind::foreign, {}};
    if (const auto aside = set_aside(path, options.busy_timeout_ms); !aside.empty())
      log::warn_once("cache-broken:" + path,
                     fmt::format("the cache {} is damaged ({}); it was set aside as {} and a new one begun", path, error.what(), aside));
  }
  return open_writable(options, path);
}

std::string left_alone(const std::string& path, Kind kind) {
  return fmt::format("{} is {}; it is left alone and {} is used instead", path,
                     kind == Kind::newer ? "the cache of a later strop" : "the database of another application", beside(path));
}

Opened look_only(const StoreOptions& options, const std::string& path) {
  auto attempt = open_readable(options, path);
  if (attempt.kind == Kind::ours) return std::move(attempt.opened);
  log::warn_once("cache-kind:" + path, left_alone(path, attempt.kind));
  std::error_code ignored;
  if (!fs::exists(beside(path), ignored)) return open_nothing(beside(path));
  attempt = open_readable(options, beside(path));
  if (attempt.kind == Kind::ours) return std::move(attempt.opened);
  throw SqliteError(SQLITE_CANTOPEN, fmt::format("{} is not this strop's cache either", beside(path)));
}

// To who has no permission it stays closed; who only came while it was held gets in later.
Opened open_held(const StoreOptions& options, const std::string& why) {
  log::warn_once("cache-held:" + options.path,
                 fmt::format("the cache {} is held by another process ({}); what is new is kept in memory and written when it lets go",
                             options.path, why));
  Opened opened;
  try {
    auto hasty = options;
    hasty.busy_timeout_ms = 0;  // it was waited for
    opened = look_only(hasty, options.path);
  } catch (const SqliteError&) {
    opened = open_memory();
  }
  opened.path = options.path;
  opened.writable = opened.held = true;
  opened.trouble = held_by_another(options.path, why);
  return opened;
}

Opened fall_back(const StoreOptions& options, const std::string& why) {
  try {
    auto opened = look_only(options, options.path);
    opened.trouble = fmt::format("{} can't be written ({}): let its owner give the permission, make room, or name another cache with --cache or STROP_CACHE", options.path, why);
    log::warn_once("cache-readonly:" + options.path, fmt::format("the cache {} can't be written ({}); what it has is used, what is new is kept in memory", options.path, why));
    return opened;
  } catch (const SqliteError& error) {
    log::warn_once("cache-unusable:" + options.path,
                   fmt::format("the cache {} can't be used ({}); everything works, but nothing is remembered past this process. Set STROP_CACHE to a place that can be written", options.path, why));
    auto opened = open_memory();
    opened.trouble = trouble_of(options.path, error);
    return opened;
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
  return opened_on(std::move(database), {}, 0);
}

std::string set_aside(const std::string& path, int timeout_ms, bool thorough) {
  const WriteLock lock(path, timeout_ms);
  if (!is_broken(path, timeout_ms, thorough)) return {};
  std::string stamp = utc_text(unix_now());
  std::erase(stamp, ':');
  std::string name = fmt::format("{}.broken-{}", path, stamp);
  std::error_code ignored;
  for (int n = 1; fs::exists(name, ignored); ++n) name = fmt::format("{}.broken-{}-{}", path, stamp, n);
  if (::rename(path.c_str(), name.c_str()) != 0) throw SqliteError(SQLITE_CANTOPEN, fmt::format("{} could not be set aside as {}", path, name));
  for (const char* journal : {"-wal", "-shm", "-journal"}) ::rename((path + journal).c_str(), (name + journal).c_str());
  return name;
}

Opened open_tables(const StoreOptions& wanted) {
  if (wanted.path.empty()) return open_memory();
  auto options = wanted;
  options.path = real_path(wanted.path);
  const auto& path = options.path;
  try {
    if (options.read_only) return look_only(options, path);
    auto attempt = open_repaired(options, path);
    if (attempt.kind == Kind::ours) return std::move(attempt.opened);
    log::warn_once("cache-kind:" + path, left_alone(path, attempt.kind));
    attempt = open_repaired(options, beside(path));
    if (attempt.kind == Kind::ours) return std::move(attempt.opened);
    throw SqliteError(SQLITE_CANTOPEN, fmt::format("{} is not this strop's cache either", beside(path)));
  } catch (const SqliteError& error) {
    if (!options.read_only) return error.code() == SQLITE_BUSY ? open_held(options, error.what()) : fall_back(options, error.what());
    std::error_code failed;
    if (fs::exists(path, failed) || failed) log::warn_once("cache-unreadable:" + path, fmt::format("the cache {} can't be read: {}", path, error.what()));
    auto opened = open_memory();
    opened.trouble = trouble_of(path, error);
    return opened;
  }
}

}  // namespace strop::cache
