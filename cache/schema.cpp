#include "cache/schema.h"

#include "cache/leases.h"

#include <fmt/format.h>

namespace strop::cache {
namespace {

constexpr std::string_view kSchema = R"sql(
CREATE TABLE environment_v1 (
  id INTEGER PRIMARY KEY,
  device_class TEXT NOT NULL,
  device_name TEXT NOT NULL,
  driver TEXT NOT NULL,
  driver_user_mode TEXT NOT NULL,
  compiler TEXT NOT NULL,
  strop_version TEXT NOT NULL,
  device_uuid TEXT NOT NULL,
  UNIQUE (device_class, device_name, driver, driver_user_mode, compiler, strop_version, device_uuid)
);
CREATE TABLE entry_v1 (
  id INTEGER PRIMARY KEY,
  handle TEXT NOT NULL UNIQUE,
  kernel TEXT NOT NULL,
  key TEXT NOT NULL,
  device_class TEXT NOT NULL,
  template_digest TEXT NOT NULL
);
CREATE INDEX entry_kernel_v1 ON entry_v1 (kernel, device_class, template_digest);
CREATE TABLE winner_v1 (
  entry INTEGER PRIMARY KEY REFERENCES entry_v1 (id),
  environment INTEGER NOT NULL REFERENCES environment_v1 (id),
  config TEXT NOT NULL,
  code TEXT NOT NULL,
  median_us REAL NOT NULL,
  spread_us REAL NOT NULL,
  min_us REAL NOT NULL,
  samples INTEGER NOT NULL,
  candidates INTEGER NOT NULL,
  rejected INTEGER NOT NULL,
  why TEXT NOT NULL,
  flags TEXT NOT NULL,
  limit_us REAL NOT NULL,
  tuned_at INTEGER NOT NULL,
  revalidated_at INTEGER NOT NULL,
  last_used INTEGER NOT NULL
);
CREATE TABLE trial_v1 (
  entry INTEGER NOT NULL REFERENCES entry_v1 (id),
  config TEXT NOT NULL,
  environment INTEGER NOT NULL REFERENCES environment_v1 (id),
  verdict TEXT NOT NULL,
  detail TEXT NOT NULL,
  median_us REAL NOT NULL,
  spread_us REAL NOT NULL,
  min_us REAL NOT NULL,
  samples INTEGER NOT NULL,
  registers INTEGER NOT NULL,
  spill_store_bytes INTEGER NOT NULL,
  spill_load_bytes INTEGER NOT NULL,
  stack_bytes INTEGER NOT NULL,
  static_shared INTEGER NOT NULL,
  dynamic_shared INTEGER NOT NULL,
  compile_ms REAL NOT NULL,
  code TEXT NOT NULL,
  landed_at INTEGER NOT NULL,
  PRIMARY KEY (entry, config)
) WITHOUT ROWID;
CREATE TABLE binary_v1 (
  id INTEGER PRIMARY KEY,
  code TEXT NOT NULL,
  compiler TEXT NOT NULL,
  target TEXT NOT NULL,
  kernel TEXT NOT NULL,
  entry TEXT NOT NULL,
  ingredients TEXT NOT NULL,
  checksum TEXT NOT NULL,
  registers INTEGER NOT NULL,
  spill_store_bytes INTEGER NOT NULL,
  spill_load_bytes INTEGER NOT NULL,
  stack_bytes INTEGER NOT NULL,
  static_shared INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  last_used INTEGER NOT NULL,
  kept INTEGER NOT NULL,
  bytes BLOB NOT NULL,
  UNIQUE (code, compiler)
);
)sql";

}  // namespace

Kind kind_of(Database& database) {
  // One statement sees one state: asked one after the other, a database that another process is just making looks foreign.
  auto row = database.prepare(
      "SELECT application_id, user_version, (SELECT count(*) FROM sqlite_master) FROM pragma_application_id, pragma_user_version");
  row.step();
  const auto application = row.integer(0);
  const auto format = row.integer(1);
  const auto tables = row.integer(2);
  if (application == 0 && format == 0 && tables == 0) return Kind::empty;
  if (application != kApplicationId) return Kind::foreign;
  return format > kFormat ? Kind::newer : Kind::ours;
}

void create_schema(Database& database) {
  database.run(std::string(kSchema));
  create_leases(database);
  database.run(fmt::format("PRAGMA application_id = {}", kApplicationId));
  database.run(fmt::format("PRAGMA user_version = {}", kFormat));
}

}  // namespace strop::cache
