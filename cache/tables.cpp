#include "cache/tables.h"

#include <fmt/format.h>

#include "cache/leases.h"
#include "cache/writing.h"
#include "src/base/digest.h"
#include "src/base/format.h"

namespace strop::cache {
namespace {

// Of an entry and of an environment, as read_environment and who reads the first four expect them.
constexpr std::string_view kEntryColumns =
    "e.kernel, e.key, e.device_class, e.template_digest, v.device_class, v.device_name, v.driver, v.driver_user_mode, v.compiler, "
    "v.strop_version, v.device_uuid";
constexpr std::string_view kWinnerColumns =
    "w.config, w.code, w.median_us, w.spread_us, w.min_us, w.samples, w.candidates, w.rejected, w.why, w.flags, w.limit_us, w.tuned_at, "
    "w.revalidated_at, w.last_used";
constexpr std::string_view kWinnerTables =
    "winner_v1 w JOIN entry_v1 e ON e.id = w.entry JOIN environment_v1 v ON v.id = w.environment";

Environment read_environment(const Statement& row, int at) {
  return {row.text(at), row.text(at + 1), row.text(at + 2), row.text(at + 3), row.text(at + 4), row.text(at + 5), row.text(at + 6)};
}

Measurement read_time(const Statement& row, int at) {
  return {row.real(at), row.real(at + 1), row.real(at + 2), static_cast<int>(row.integer(at + 3))};
}

Resources read_resources(const Statement& row, int at) {
  const auto number = [&](int column) { return static_cast<int>(row.integer(at + column)); };
  return {number(0), number(1), number(2), number(3), number(4)};
}

// Rows that this build can't read (a key or config in no known form) are passed over, not guessed at.
std::optional<Winner> read_winner(const Statement& row) {
  const auto key = Key::parse(row.text(1));
  const auto config = Config::parse(row.text(11));
  if (!key || !config) return std::nullopt;
  Winner winner;
  winner.id = {row.text(0), *key, row.text(2), row.text(3)};
  winner.environment = read_environment(row, 4);
  winner.config = *config;
  winner.code = row.text(12);
  winner.time = read_time(row, 13);
  winner.candidates = static_cast<int>(row.integer(17));
  winner.rejected = static_cast<int>(row.integer(18));
  winner.why = row.text(19);
  winner.flags = row.text(20);
  winner.limit_us = row.real(21);
  winner.tuned_at = row.integer(22);
  winner.revalidated_at = row.integer(23);
  winner.last_used = row.integer(24);
  return winner;
}

StoredBinary read_binary(const Statement& row) {
  StoredBinary binary;
  binary.code = row.text(0);
  binary.compiler = row.text(1);
  binary.target = row.text(2);
  binary.kernel = row.text(3);
  binary.entry = row.text(4);
  binary.ingredients = row.text(5);
  binary.resources = read_resources(row, 6);
  binary.created_at = row.integer(11);
  binary.last_used = row.integer(12);
  return binary;
}
constexpr std::string_view kBinaryColumns =
    "code, compiler, target, kernel, entry, ingredients, registers, spill_store_bytes, spill_load_bytes, stack_bytes, static_shared, "
    "created_at, last_used";
constexpr std::string_view kTimed =
    "environment, config, code, median_us, spread_us, min_us, samples, candidates, rejected, why, flags, limit_us, tuned_at, "
    "revalidated_at, last_used";

}  // namespace

std::vector<Winner> Tables::select(const std::string& where, const std::vector<std::string>& values) {
  auto rows = database_.prepare(fmt::format("SELECT {}, {} FROM {} {}", kEntryColumns, kWinnerColumns, kWinnerTables, where));
  rows.bind_all(values);
  std::vector<Winner> winners;
  while (rows.step())
    if (auto winner = read_winner(rows)) winners.push_back(std::move(*winner));
  return winners;
}

std::optional<Winner> Tables::find_winner(const EntryId& id) {
  auto found = select("WHERE e.handle = ?", {handle(id)});
  if (found.empty()) return std::nullopt;
  const auto& there = found.front().id;
  // A handle is short; what it stands for decides.
  if (there.kernel != id.kernel || there.key != id.key || there.device_class != id.device_class || there.template_digest != id.template_digest)
    return std::nullopt;
  return std::move(found.front());
}

std::vector<Winner> Tables::winners_of(const EntryId& id) {
  return select("WHERE e.kernel = ? AND e.device_class = ? AND e.template_digest = ? ORDER BY e.id",
                {id.kernel, id.device_class, id.template_digest});
}

void Tables::set_timeout(int timeout_ms) {
  timeout_ms_ = timeout_ms;
  sqlite3_busy_timeout(database_.handle(), timeout_ms);
}

std::vector<Winner> Tables::all_winners() { return select("ORDER BY e.kernel, e.id", {}); }

std::vector<Winner> Tables::unfinished() {
  auto rows = database_.prepare(fmt::format(
      "SELECT {}, count(*), sum(t.verdict <> 'ok'), max(t.landed_at) "
      "FROM trial_v1 t JOIN entry_v1 e ON e.id = t.entry JOIN environment_v1 v ON v.id = t.environment "
      "WHERE t.entry NOT IN (SELECT entry FROM winner_v1) GROUP BY e.id ORDER BY e.kernel, e.id",
      kEntryColumns));
  std::vector<Winner> found;
  while (rows.step()) {
    const auto key = Key::parse(rows.text(1));
    if (!key) continue;
    Winner winner;
    winner.id = {rows.text(0), *key, rows.text(2), rows.text(3)};
    winner.environment = read_environment(rows, 4);
    winner.candidates = static_cast<int>(rows.integer(11));
    winner.rejected = static_cast<int>(rows.integer(12));
    winner.tuned_at = winner.last_used = rows.integer(13);
    found.push_back(std::move(winner));
  }
  return found;
}

std::vector<StoredTrial> Tables::trials_of(const EntryId& id) {
  auto rows = database_.prepare(
      "SELECT t.config, t.verdict, t.detail, t.median_us, t.spread_us, t.min_us, t.samples, t.registers, t.spill_store_bytes, "
      "t.spill_load_bytes, t.stack_bytes, t.static_shared, t.dynamic_shared, t.compile_ms, t.code, t.landed_at, v.device_class, "
      "v.device_name, v.driver, v.driver_user_mode, v.compiler, v.strop_version, v.device_uuid "
      "FROM trial_v1 t JOIN entry_v1 e ON e.id = t.entry JOIN environment_v1 v ON v.id = t.environment WHERE e.handle = ? "
      "ORDER BY t.landed_at, t.config");
  rows.bind(handle(id));
  std::vector<StoredTrial> trials;
  while (rows.step()) {
    const auto config = Config::parse(rows.text(0));
    const auto verdict = parse_verdict(rows.text(1));
    if (!config || !verdict) continue;
    StoredTrial stored;
    stored.id = id;
    stored.trial.config = *config;
    stored.trial.verdict = *verdict;
    stored.trial.detail = rows.text(2);
    stored.trial.time = read_time(rows, 3);
    stored.trial.resources = read_resources(rows, 7);
    stored.trial.dynamic_shared = static_cast<int>(rows.integer(12));
    stored.trial.compile_ms = rows.real(13);
    stored.code = rows.text(14);
    stored.landed_at = rows.integer(15);
    stored.environment = read_environment(rows, 16);
    trials.push_back(std::move(stored));
  }
  return trials;
}

std::optional<StoredBinary> Tables::find_binary(const std::string& code, const std::string& preferred_compiler, bool& damaged) {
  damaged = false;
  auto rows = database_.prepare(fmt::format(
      "SELECT {}, checksum, bytes, id FROM binary_v1 WHERE code = ? ORDER BY compiler = ? DESC, created_at DESC", kBinaryColumns));
  rows.bind(code, preferred_compiler);
  while (rows.step()) {
    auto binary = read_binary(rows);
    binary.bytes = rows.blob(14);
    if (digest_of(binary.code + binary.bytes) == rows.text(13)) return binary;
    damaged = true;
  }
  return std::nullopt;
}

std::vector<StoredBinary> Tables::binaries() {
  auto rows = database_.prepare(fmt::format("SELECT {} FROM binary_v1 ORDER BY kernel, created_at", kBinaryColumns));
  std::vector<StoredBinary> found;
  while (rows.step()) found.push_back(read_binary(rows));
  return found;
}

std::int64_t Tables::environment_id(const Environment& e) {
  database_
      .prepare("INSERT OR IGNORE INTO environment_v1 (device_class, device_name, driver, driver_user_mode, compiler, strop_version, "
               "device_uuid) VALUES (?, ?, ?, ?, ?, ?, ?)")
      .bind(e.device_class, e.device_name, e.driver, e.driver_user_mode, e.compiler, e.strop_version, e.device_uuid)
      .run();
  auto row = database_.prepare("SELECT id FROM environment_v1 WHERE device_class = ? AND device_name = ? AND driver = ? AND "
                               "driver_user_mode = ? AND compiler = ? AND strop_version = ? AND device_uuid = ?");
  row.bind(e.device_class, e.device_name, e.driver, e.driver_user_mode, e.compiler, e.strop_version, e.device_uuid).step();
  return row.integer(0);
}

std::int64_t Tables::entry_id(const EntryId& id) {
  const auto name = handle(id);
  // What a handle stands for is written anew where it was lost: else the row would never be found again, and never replaced.
  database_
      .prepare("INSERT INTO entry_v1 (handle, kernel, key, device_class, template_digest) VALUES (?, ?, ?, ?, ?) ON CONFLICT (handle) DO "
               "UPDATE SET kernel = excluded.kernel, key = excluded.key, device_class = excluded.device_class, template_digest = "
               "excluded.template_digest WHERE (kernel, key, device_class, template_digest) IS NOT (excluded.kernel, excluded.key, "
               "excluded.device_class, excluded.template_digest)")
      .bind(name, id.kernel, id.key.str(), id.device_class, id.template_digest)
      .run();
  auto row = database_.prepare("SELECT id FROM entry_v1 WHERE handle = ?");
  row.bind(name).step();
  return row.integer(0);
}

void Tables::insert_binary(const StoredBinary& b, bool kept) {
  const auto& r = b.resources;
  database_
      .prepare("INSERT INTO binary_v1 (code, compiler, target, kernel, entry, ingredients, checksum, registers, spill_store_bytes, "
               "spill_load_bytes, stack_bytes, static_shared, created_at, last_used, kept, bytes) "
               "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (code, compiler) DO UPDATE SET "
               "target = excluded.target, kernel = excluded.kernel, entry = excluded.entry, ingredients = excluded.ingredients, "
               "checksum = excluded.checksum, bytes = excluded.bytes, last_used = excluded.last_used, kept = max(kept, excluded.kept)")
      .bind(b.code, b.compiler, b.target, b.kernel, b.entry, b.ingredients, digest_of(b.code + b.bytes), r.registers, r.spill_store_bytes,
            r.spill_load_bytes, r.stack_bytes, r.static_shared, b.created_at != 0 ? b.created_at : unix_now(), unix_now(), kept ? 1 : 0,
            Bytes{b.bytes})
      .run();
}

// A winner that was owed and comes late doesn't replace what another process timed after it. A time to come (a clock that was set
// back, a cache from elsewhere) is no reason to keep anything.
void Tables::put_winner(const Winner& w, const std::optional<StoredBinary>& binary) {
  Writing writing(database_, lock_path_, timeout_ms_);
  const auto entry = entry_id(w.id);
  database_
      .prepare(fmt::format("INSERT INTO winner_v1 (entry, {0}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
                           "ON CONFLICT (entry) DO UPDATE SET ({0}) = (excluded.environment, excluded.config, excluded.code, "
                           "excluded.median_us, excluded.spread_us, excluded.min_us, excluded.samples, excluded.candidates, "
                           "excluded.rejected, excluded.why, excluded.flags, excluded.limit_us, excluded.tuned_at, "
                           "excluded.revalidated_at, excluded.last_used) WHERE max(tuned_at, revalidated_at) NOT BETWEEN "
                           "max(excluded.tuned_at, excluded.revalidated_at) + 1 AND {1}",
                           kTimed, unix_now()))
      .bind(entry, environment_id(w.environment), w.config.str(), w.code, w.time.median_us, w.time.spread_us, w.time.min_us, w.time.samples,
            w.candidates, w.rejected, w.why, w.flags, w.limit_us, w.tuned_at, w.revalidated_at, w.last_used)
      .run();
  if (database_.changed() == 0) {
    writing.commit();  // of the entry as it was healed
    return;
  }
  if (binary) insert_binary(*binary, false);
  // The losers' binaries of this tuning go, unless another winner runs one or they were made to be kept.
  database_
      .prepare("DELETE FROM binary_v1 WHERE kept = 0 AND code IN (SELECT code FROM trial_v1 WHERE entry = ?) AND "
               "code NOT IN (SELECT code FROM winner_v1)")
      .bind(entry)
      .run();
  writing.commit();
}

void Tables::put_trial(const StoredTrial& t) {
  Writing writing(database_, lock_path_, timeout_ms_);
  const auto& r = t.trial.resources;
  const auto& time = t.trial.time;
  database_
      .prepare("INSERT OR REPLACE INTO trial_v1 (entry, config, environment, verdict, detail, median_us, spread_us, min_us, samples, "
               "registers, spill_store_bytes, spill_load_bytes, stack_bytes, static_shared, dynamic_shared, compile_ms, code, landed_at) "
               "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
      .bind(entry_id(t.id), t.trial.config.str(), environment_id(t.environment), std::string(name(t.trial.verdict)), t.trial.detail,
            time.median_us, time.spread_us, time.min_us, time.samples, r.registers, r.spill_store_bytes, r.spill_load_bytes, r.stack_bytes,
            r.static_shared, t.trial.dynamic_shared, t.trial.compile_ms, t.code, t.landed_at)
      .run();
  writing.commit();
}

void Tables::put_binary(const StoredBinary& binary, bool kept) {
  Writing writing(database_, lock_path_, timeout_ms_);
  insert_binary(binary, kept);
  writing.commit();
}

// Read again under the lock: another process may have replaced it meanwhile.
void Tables::drop_damaged(const std::string& code) {
  Writing writing(database_, lock_path_, timeout_ms_);
  std::vector<std::int64_t> damaged;
  {
    auto rows = database_.prepare("SELECT id, checksum, bytes FROM binary_v1 WHERE code = ?");
    rows.bind(code);
    while (rows.step())
      if (digest_of(code + rows.blob(2)) != rows.text(1)) damaged.push_back(rows.integer(0));
  }
  for (const auto id : damaged) database_.prepare("DELETE FROM binary_v1 WHERE id = ?").bind(id).run();
  writing.commit();
}

// Once an hour a row is often enough for eviction by last use, and keeps a busy cluster's hits from being writes.
void Tables::touch(const EntryId& id, std::int64_t now) {
  constexpr std::int64_t kCoarse = 3600;
  std::int64_t entry = 0;
  {
    // Ended before the transaction: a reader whose snapshot another process has overtaken can't become a writer.
    auto row = database_.prepare("SELECT w.entry, w.last_used FROM winner_v1 w JOIN entry_v1 e ON e.id = w.entry WHERE e.handle = ?");
    row.bind(handle(id));
    if (!row.step() || row.integer(1) > now - kCoarse) return;
    entry = row.integer(0);
  }
  Writing writing(database_, lock_path_, timeout_ms_);
  database_.prepare("UPDATE winner_v1 SET last_used = ? WHERE entry = ?").bind(now, entry).run();
  database_.prepare("UPDATE binary_v1 SET last_used = ? WHERE code = (SELECT code FROM winner_v1 WHERE entry = ?)").bind(now, entry).run();
  writing.commit();
}

std::optional<Lease> Tables::find_lease(const std::string& scope) { return cache::find_lease(database_, scope); }

bool Tables::claim_lease(const Lease& mine) {
  Writing writing(database_, lock_path_, timeout_ms_);
  const bool claimed = cache::claim_lease(database_, mine);
  writing.commit();
  return claimed;
}

bool Tables::take_over_lease(const Lease& seen, const Lease& mine) {
  Writing writing(database_, lock_path_, timeout_ms_);
  const bool taken = cache::take_over_lease(database_, seen, mine);
  writing.commit();
  return taken;
}

void Tables::release_lease(const std::string& scope, const std::string& owner) {
  Writing writing(database_, lock_path_, timeout_ms_);
  cache::release_lease(database_, scope, owner);
  writing.commit();
}

}  // namespace strop::cache
