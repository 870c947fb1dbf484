#include "cache/sqlite.h"

#include <fmt/format.h>

#include "src/base/log.h"

namespace strop::cache {
namespace {

[[noreturn]] void fail(sqlite3* handle, int code, std::string_view doing) {
  const char* message = handle != nullptr ? sqlite3_errmsg(handle) : sqlite3_errstr(code);
  log::debug(fmt::format("SQLite: {} ({}) while {}", message, code, doing));  // SQL text says nothing to people
  throw SqliteError(code, fmt::format("{}, SQLite error {}", message, code));
}

// Percent-encodes what a URI filename would read as syntax.
std::string uri_of(const std::string& path) {
  std::string uri = "file:";
  for (const char c : path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '/' || c == '-' || c == '_' || c == '.';
    if (plain) uri += c;
    else uri += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return uri + "?immutable=1";
}

}  // namespace

Database::Database(const std::string& path, Mode mode, int busy_timeout_ms) {
  std::string name = path;
  int flags = SQLITE_OPEN_NOMUTEX;
  switch (mode) {
    case Mode::create: flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE; break;
    case Mode::existing: flags |= SQLITE_OPEN_READWRITE; break;
    case Mode::read_only: flags |= SQLITE_OPEN_READONLY; break;
    case Mode::immutable:
      flags |= SQLITE_OPEN_READONLY | SQLITE_OPEN_URI;
      name = uri_of(path);
      break;
    case Mode::memory:
      flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
      name = ":memory:";
      break;
  }
  // A name that begins with ':' or "file:" would be read as something other than a file.
  if (mode != Mode::memory && mode != Mode::immutable && !name.starts_with('/')) name.insert(0, "./");
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(name.c_str(), &handle, flags, nullptr);
  handle_.reset(handle);
  if (code != SQLITE_OK) fail(handle, code, "opening " + path);
  sqlite3_extended_result_codes(handle, 1);
  sqlite3_busy_timeout(handle, busy_timeout_ms);
  // What a file says about itself must not make the library do things.
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
}

void Database::run(const std::string& sql) {
  const int code = sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail(handle_.get(), code, sql.substr(0, 60));
}

Statement Database::prepare(std::string_view sql) { return {handle_.get(), sql}; }

std::optional<std::int64_t> Database::number(std::string_view sql) {
  auto statement = prepare(sql);
  if (!statement.step()) return std::nullopt;
  return statement.integer(0);
}

std::string Database::text(std::string_view sql) {
  auto statement = prepare(sql);
  return statement.step() ? statement.text(0) : std::string{};
}

bool Database::moved() const {
  int moved = 0;
  return sqlite3_file_control(handle_.get(), "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK && moved != 0;
}

std::string Database::head(std::size_t count) const {
  sqlite3_file* file = nullptr;
  std::string bytes(count, '\0');
  if (sqlite3_file_control(handle_.get(), "main", SQLITE_FCNTL_FILE_POINTER, static_cast<void*>(&file)) != SQLITE_OK) return {};
  if (file == nullptr || file->pMethods == nullptr) return {};
  if (file->pMethods->xRead(file, bytes.data(), static_cast<int>(count), 0) != SQLITE_OK) return {};
  return bytes;
}

Statement::Statement(sqlite3* database, std::string_view sql) : database_(database) {
  sqlite3_stmt* handle = nullptr;
  const int code = sqlite3_prepare_v2(database, sql.data(), static_cast<int>(sql.size()), &handle, nullptr);
  handle_.reset(handle);
  if (code != SQLITE_OK) fail(database, code, sql.substr(0, 60));
}

bool Statement::step() {
  const int code = sqlite3_step(handle_.get());
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) fail(database_, code, sqlite3_sql(handle_.get()));
  return false;
}

std::string Statement::text(int column) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(handle_.get(), column));
  return text == nullptr ? std::string{} : std::string(text, static_cast<std::size_t>(sqlite3_column_bytes(handle_.get(), column)));
}

std::string Statement::blob(int column) const {
  const auto* bytes = static_cast<const char*>(sqlite3_column_blob(handle_.get(), column));
  return bytes == nullptr ? std::string{} : std::string(bytes, static_cast<std::size_t>(sqlite3_column_bytes(handle_.get(), column)));
}

void Statement::check(int code) const {
  if (code != SQLITE_OK) fail(database_, code, "binding a value");
}

void Statement::bind_one(int at, const std::string& text) {
  check(sqlite3_bind_text64(handle_.get(), at, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
}

void Statement::bind_one(int at, const Bytes& bytes) {
  check(sqlite3_bind_blob64(handle_.get(), at, bytes.of.data(), bytes.of.size(), SQLITE_TRANSIENT));
}

void Statement::bind_one(int at, std::int64_t value) { check(sqlite3_bind_int64(handle_.get(), at, value)); }

void Statement::bind_one(int at, double value) { check(sqlite3_bind_double(handle_.get(), at, value)); }

Transaction::Transaction(Database& database) : database_(database) { database_.run("BEGIN IMMEDIATE"); }

Transaction::~Transaction() {
  if (!open_) return;
  try {
    database_.run("ROLLBACK");
  } catch (const SqliteError& error) {
    log::debug(fmt::format("rolling back: {}", error.what()));  // SQLite has rolled back already after a full disk
  }
}

void Transaction::commit() {
  database_.run("COMMIT");
  open_ = false;
}

}  // namespace strop::cache
