#include "cache/leases.h"

namespace strop::cache {

// Not there in a database made before leases were.
void create_leases(Database& database) {
  database.run("CREATE TABLE IF NOT EXISTS lease_v1 (\n"
               "  scope TEXT PRIMARY KEY,\n"
               "  what TEXT NOT NULL,\n"
               "  owner TEXT NOT NULL,\n"
               "  beats INTEGER NOT NULL\n"
               ") WITHOUT ROWID;");
}

std::optional<Lease> find_lease(Database& database, const std::string& scope) {
  if (auto there = database.prepare("SELECT 1 FROM sqlite_master WHERE name = 'lease_v1'"); !there.step()) return std::nullopt;
  auto row = database.prepare("SELECT scope, what, owner, beats FROM lease_v1 WHERE scope = ?");
  row.bind(scope);
  if (!row.step()) return std::nullopt;
  return Lease{row.text(0), row.text(1), row.text(2), row.integer(3)};
}

bool claim_lease(Database& database, const Lease& mine) {
  create_leases(database);
  database
      .prepare("INSERT INTO lease_v1 (scope, what, owner, beats) VALUES (?, ?, ?, 0) ON CONFLICT (scope) DO UPDATE SET beats = beats + 1 "
               "WHERE owner = excluded.owner")
      .bind(mine.scope, mine.what, mine.owner)
      .run();
  return database.changed() > 0;
}

bool take_over_lease(Database& database, const Lease& seen, const Lease& mine) {
  create_leases(database);
  database.prepare("UPDATE lease_v1 SET owner = ?, what = ?, beats = beats + 1 WHERE scope = ? AND owner = ? AND beats = ?")
      .bind(mine.owner, mine.what, seen.scope, seen.owner, seen.beats)
      .run();
  return database.changed() > 0;
}

void release_lease(Database& database, const std::string& scope, const std::string& owner) {
  create_leases(database);
  database.prepare("DELETE FROM lease_v1 WHERE scope = ? AND owner = ?").bind(scope, owner).run();
}

}  // namespace strop::cache
