#pragma once

// The rows that say which process is tuning what, so that others wait for its winners instead of finding their own. A lease is a
// courtesy, not a lock: who waited long enough goes on without it, and every write is right without any.

#include <optional>
#include <string>

#include "cache/sqlite.h"
#include "cache/store.h"

namespace strop::cache {

// Each is one short transaction, or part of the caller's; throws SqliteError.
void create_leases(Database& database);
std::optional<Lease> find_lease(Database& database, const std::string& scope);
// Takes what nobody has, or lets the own heart beat. False: somebody else has it.
bool claim_lease(Database& database, const Lease& mine);
// Takes what `seen` has, unless it changed since.
bool take_over_lease(Database& database, const Lease& seen, const Lease& mine);
void release_lease(Database& database, const std::string& scope, const std::string& owner);

}  // namespace strop::cache
