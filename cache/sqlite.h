#pragma once

// SQLite behind two small owners and one exception; the only place that includes sqlite3.h. A Database is used by one thread at a
// time (the store holds a mutex).

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "strop/error.h"

namespace strop::cache {

class SqliteError : public CacheError {
 public:
  SqliteError(int code, const std::string& what) : CacheError(what), code_(code) {}
  int code() const { return code_ & 0xff; }  // the primary code: SQLITE_BUSY, SQLITE_CORRUPT, ...
  // The file is not a database, or not a whole one.
  bool broken() const { return code() == SQLITE_CORRUPT || code() == SQLITE_NOTADB; }
  // The file is not at its path any more: another store set it aside, or somebody removed it.
  bool moved() const { return code_ == SQLITE_READONLY_DBMOVED; }

 private:
  int code_;
};

class Statement;

class Database {
 public:
  enum class Mode { create, existing, read_only, immutable, memory };  // `create` and `existing` are for writing
  // Throws SqliteError.
  Database(const std::string& path, Mode mode, int busy_timeout_ms);

  void run(const std::string& sql);                         // one or more statements without results
  Statement prepare(std::string_view sql);                  // cached by nothing: statements are short-lived
  std::optional<std::int64_t> number(std::string_view sql);  // first column of the first row
  std::string text(std::string_view sql);
  std::int64_t changed() const { return sqlite3_changes(handle_.get()); }  // rows, by the last statement
  bool moved() const;                                                      // see SqliteError::moved
  // The file's first bytes as they are, also of what is no database; empty: it has fewer. Read through SQLite, because closing a
  // descriptor of one's own drops the POSIX locks of all this process's connections to the file.
  std::string head(std::size_t count) const;
  sqlite3* handle() const { return handle_.get(); }

 private:
  struct Close {
    void operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }
  };
  std::unique_ptr<sqlite3, Close> handle_;
};

// A string bound as a blob.
struct Bytes {
  const std::string& of;
};

// One prepared statement; parameters are bound in order by `bind`.
class Statement {
 public:
  Statement(sqlite3* database, std::string_view sql);

  template <class... Values>
  Statement& bind(const Values&... values) {
    int at = 0;
    (bind_one(++at, values), ...);
    return *this;
  }
  Statement& bind_all(const std::vector<std::string>& values) {
    int at = 0;
    for (const auto& value : values) bind_one(++at, value);
    return *this;
  }
  bool step();  // true: a row
  void run() {
    while (step()) {
    }
  }
  std::string text(int column) const;
  std::int64_t integer(int column) const { return sqlite3_column_int64(handle_.get(), column); }
  double real(int column) const { return sqlite3_column_double(handle_.get(), column); }
  std::string blob(int column) const;

 private:
  void bind_one(int at, const std::string& text);
  void bind_one(int at, const Bytes& bytes);
  void bind_one(int at, std::int64_t value);
  void bind_one(int at, int value) { bind_one(at, std::int64_t{value}); }
  void bind_one(int at, double value);
  void check(int code) const;

  struct Finalize {
    void operator()(sqlite3_stmt* handle) const { sqlite3_finalize(handle); }
  };
  sqlite3* database_;
  std::unique_ptr<sqlite3_stmt, Finalize> handle_;
};

// BEGIN IMMEDIATE ... COMMIT; rolls back when destroyed without `commit`.
class Transaction {
 public:
  explicit Transaction(Database& database);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit();

 private:
  Database& database_;
  bool open_ = true;
};

}  // namespace strop::cache
