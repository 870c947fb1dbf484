// The part of Tables that serves the command: removing, verifying, shrinking.

#include <fmt/format.h>

#include <limits>

#include "cache/schema.h"
#include "cache/tables.h"
#include "cache/write_lock.h"
#include "cache/writing.h"
#include "src/base/digest.h"
#include "src/base/format.h"

namespace strop::cache {
namespace {

constexpr std::string_view kUnreferencedBinaries = "kept = 0 AND code NOT IN (SELECT code FROM winner_v1)";

// A winner or trial that can't be served.
struct SickRow {
  bool is_trial = false;
  std::int64_t entry = 0;
  std::string config;
  std::string what;
};

std::vector<SickRow> dangling(Database& database) {
  std::vector<SickRow> found;
  for (const bool is_trial : {false, true}) {
    const char* what = is_trial ? "trial" : "winner";
    for (const auto& [column, table] : {std::pair("entry", "entry_v1"), std::pair("environment", "environment_v1")}) {
      auto rows = database.prepare(fmt::format("SELECT entry, config FROM {}_v1 WHERE {} NOT IN (SELECT id FROM {})", what, column, table));
      while (rows.step())
        found.push_back({is_trial, rows.integer(0), rows.text(1), fmt::format("{} of entry {}: its {} is missing", what, rows.integer(0), column)});
    }
  }
  return found;
}

// What a later build of this format may call a verdict: its rows are passed over, not damage.
bool is_word(const std::string& text) {
  return !text.empty() && text.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == std::string::npos;
}

std::vector<SickRow> unreadable(Database& database) {
  std::vector<SickRow> found;
  // A time is a finite number that is not negative.
  constexpr std::string_view kBadTime = "typeof({0}.median_us) NOT IN ('real', 'integer') OR {0}.median_us < 0 OR {0}.median_us > 1e300";
  auto winners = database.prepare(fmt::format(
      "SELECT e.handle, e.key, e.kernel, w.config, w.entry, {} FROM winner_v1 w JOIN entry_v1 e ON e.id = w.entry", fmt::format(kBadTime, "w")));
  while (winners.step())
    if (!Key::parse(winners.text(1)) || !Config::parse(winners.text(3)) || winners.integer(5) != 0)
      found.push_back({false, winners.integer(4), {}, fmt::format("winner {} of {}: its key, config or time can't be read", winners.text(0), winners.text(2))});
  auto trials = database.prepare(fmt::format("SELECT entry, config, verdict, {} FROM trial_v1 t", fmt::format(kBadTime, "t")));
  while (trials.step())
    if (!Config::parse(trials.text(1)) || !is_word(trials.text(2)) || trials.integer(3) != 0)
      found.push_back({true, trials.integer(0), trials.text(1), fmt::format("trial of entry {}: its config, verdict or time can't be read", trials.integer(0))});
  return found;
}

// Entries whose columns are not what their handle was made of: no lookup finds them.
std::vector<std::string> misnamed(Database& database) {
  std::vector<std::string> found;
  auto rows = database.prepare("SELECT handle, kernel, key, device_class, template_digest FROM entry_v1");
  while (rows.step()) {
    const auto key = Key::parse(rows.text(2));
    if (!key || handle({rows.text(1), *key, rows.text(3), rows.text(4)}) != rows.text(0)) found.push_back(rows.text(0));
  }
  return found;
}

}  // namespace

void Tables::remove_entry(const std::string& name) {
  for (const char* sql : {"DELETE FROM trial_v1 WHERE entry = (SELECT id FROM entry_v1 WHERE handle = ?)",
                          "DELETE FROM binary_v1 WHERE code = (SELECT code FROM winner_v1 WHERE entry = (SELECT id FROM entry_v1 WHERE handle = ?1)) "
                          "AND code NOT IN (SELECT code FROM winner_v1 WHERE entry <> (SELECT id FROM entry_v1 WHERE handle = ?1))",
                          "DELETE FROM winner_v1 WHERE entry = (SELECT id FROM entry_v1 WHERE handle = ?)",
                          "DELETE FROM entry_v1 WHERE handle = ?"})
    database_.prepare(sql).bind(name).run();
}

void Tables::remove(const std::vector<Winner>& winners) {
  Writing writing(database_, lock_path_, timeout_ms_);
  for (const auto& winner : winners) remove_entry(handle(winner.id));
  writing.commit();
}

std::uint64_t Tables::bytes() {
  const auto pages = database_.number("PRAGMA page_count").value_or(0) - database_.number("PRAGMA freelist_count").value_or(0);
  return static_cast<std::uint64_t>(pages * database_.number("PRAGMA page_size").value_or(0));
}

Stats Tables::stats() {
  Stats stats;
  stats.winners = database_.number("SELECT count(*) FROM winner_v1").value_or(0);
  stats.trials = database_.number("SELECT count(*) FROM trial_v1").value_or(0);
  stats.binaries = database_.number("SELECT count(*) FROM binary_v1").value_or(0);
  stats.environments = database_.number("SELECT count(*) FROM environment_v1").value_or(0);
  stats.binary_bytes = static_cast<std::uint64_t>(database_.number("SELECT coalesce(sum(length(bytes)), 0) FROM binary_v1").value_or(0));
  stats.format = static_cast<int>(kFormat);
  stats.file_bytes = static_cast<std::uint64_t>(database_.number("PRAGMA page_count").value_or(0) * database_.number("PRAGMA page_size").value_or(0));
  return stats;
}

std::vector<Damage> Tables::verify(bool repair) {
  std::vector<Damage> found;
  if (const auto answer = database_.text("PRAGMA integrity_check(20)"); answer != "ok") found.push_back({"database: " + answer, false});
  std::vector<std::int64_t> broken;
  {
    auto rows = database_.prepare("SELECT id, code, kernel, checksum, bytes, entry, target FROM binary_v1");
    while (rows.step()) {
      const bool whole = digest_of(rows.text(1) + rows.blob(4)) == rows.text(3);
      if (whole && !rows.text(5).empty() && !rows.text(6).empty()) continue;
      broken.push_back(rows.integer(0));
      found.push_back({fmt::format("binary {} of {}: {}", rows.text(1).substr(0, 12), rows.text(2),
                                   whole ? "its entry point or target is missing" : "checksum differs"),
                       repair});
    }
  }
  const auto lost = misnamed(database_);
  for (const auto& name : lost)
    found.push_back({fmt::format("entry {}: its kernel, key, device class or template is not what it was stored under", name), repair});
  auto sick = dangling(database_);
  auto unread = unreadable(database_);
  sick.insert(sick.end(), unread.begin(), unread.end());
  for (const auto& row : sick) found.push_back({row.what, repair});
  if (repair && !(broken.empty() && sick.empty() && lost.empty())) {
    Writing writing(database_, lock_path_, timeout_ms_);
    for (const auto& name : lost) remove_entry(name);
    for (const auto id : broken) database_.prepare("DELETE FROM binary_v1 WHERE id = ?").bind(id).run();
    for (const auto& row : sick) row.is_trial ? database_.prepare("DELETE FROM trial_v1 WHERE entry = ? AND config = ?").bind(row.entry, row.config).run()
                                              : database_.prepare("DELETE FROM winner_v1 WHERE entry = ?").bind(row.entry).run();
    writing.commit();
  }
  return found;
}

void Tables::drop_unreferenced() {
  Writing writing(database_, lock_path_, timeout_ms_);
  database_.run(fmt::format("DELETE FROM binary_v1 WHERE {}", kUnreferencedBinaries));
  database_.run("DELETE FROM entry_v1 WHERE id NOT IN (SELECT entry FROM winner_v1) AND id NOT IN (SELECT entry FROM trial_v1)");
  database_.run("DELETE FROM environment_v1 WHERE id NOT IN (SELECT environment FROM winner_v1) AND id NOT IN (SELECT environment FROM trial_v1)");
  writing.commit();
}

// What costs least to lose goes first: losers' binaries, tunings that were given up, binaries made for their own sake (a compile each),
// winners (a tuning each), and at last tunings that may be going on, which are small and could not go on after a kill.
bool Tables::evict_some() {
  constexpr std::int64_t kGivenUpAfter = 86400;
  const auto evict_binaries = [&](int kept) {
    database_.run(fmt::format("DELETE FROM binary_v1 WHERE id IN (SELECT id FROM binary_v1 WHERE kept = {} AND code NOT IN (SELECT code "
                              "FROM winner_v1) ORDER BY last_used, id LIMIT 16)", kept));
    return database_.changed() > 0;
  };
  if (evict_binaries(0) || evict_tuning(unix_now() - kGivenUpAfter) || evict_binaries(1)) return true;
  const auto oldest = database_.text("SELECT e.handle FROM winner_v1 w JOIN entry_v1 e ON e.id = w.entry "
                                     "ORDER BY max(w.last_used, w.tuned_at, w.revalidated_at), e.id LIMIT 1");
  if (oldest.empty()) return evict_tuning(std::numeric_limits<std::int64_t>::max());
  remove_entry(oldest);
  return true;
}

// The oldest tuning without a winner whose last trial landed before `time`, if there is one.
bool Tables::evict_tuning(std::int64_t time) {
  auto row = database_.prepare("SELECT e.handle FROM trial_v1 t JOIN entry_v1 e ON e.id = t.entry WHERE t.entry NOT IN (SELECT entry "
                               "FROM winner_v1) GROUP BY e.id HAVING max(t.landed_at) < ? ORDER BY max(t.landed_at), e.id LIMIT 1");
  row.bind(time);
  if (!row.step()) return false;
  const auto oldest = row.text(0);
  remove_entry(oldest);
  return true;
}

void Tables::shrink_to(std::uint64_t max_bytes) {
  while (bytes() > max_bytes) {
    Writing writing(database_, lock_path_, timeout_ms_);
    if (!evict_some()) return;
    writing.commit();
  }
}

void Tables::vacuum() {
  const WriteLock lock(lock_path_, timeout_ms_);
  database_.run("VACUUM");
  if (!lock_path_.empty()) database_.run("PRAGMA wal_checkpoint(TRUNCATE)");
}

}  // namespace strop::cache
