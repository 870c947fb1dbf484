#pragma once

// One change of the database: the writers' lock, then a transaction. Rolls back when destroyed without `commit`.

#include <string>

#include "cache/sqlite.h"
#include "cache/write_lock.h"

namespace strop::cache {

class Writing {
 public:
  // Throws SqliteError: busy after `timeout_ms`; moved when the file was set aside, which is done under the same lock.
  Writing(Database& database, const std::string& lock_path, int timeout_ms)
      : lock_(lock_path, timeout_ms), transaction_(in_place(database, lock_path)) {}
  void commit() { transaction_.commit(); }

 private:
  static Database& in_place(Database& database, const std::string& path) {
    if (!path.empty() && database.moved()) throw SqliteError(SQLITE_READONLY_DBMOVED, path + " was set aside or removed");
    return database;
  }

  WriteLock lock_;
  Transaction transaction_;
};

}  // namespace strop::cache
