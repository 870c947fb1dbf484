#pragma once

// Made-up entries, the warnings a piece of code caused, and a look past the store at the rows themselves.

#include <sqlite3.h>

#include <memory>
#include <string>
#include <vector>

#include "cache/store.h"

namespace strop::cache::test {

EntryId entry_of(int width, const std::string& kernel = "causal_conv1d");
Environment environment_of(const std::string& driver = "580.159.03");
Winner winner_of(const EntryId& id, const std::string& code, const std::string& driver = "580.159.03");
StoredTrial trial_of(const EntryId& id, const std::string& code, int rows);
// `bytes` repeats a pattern made from the code, so that two binaries differ everywhere.
StoredBinary binary_of(const std::string& code, std::size_t bytes = 9000);

std::unique_ptr<Store> open_at(const std::string& path);
// Opens, stores `count` winners with binaries and closes.
void fill(const std::string& path, int count = 3);
// It takes a winner with its binary and gives them back; with `lasting` also when opened again.
void expect_working(const std::string& path, bool lasting = true);

// Counts what is logged as a warning or worse while it lives.
class Warnings {
 public:
  Warnings();
  ~Warnings();
  Warnings(const Warnings&) = delete;
  Warnings& operator=(const Warnings&) = delete;
  std::size_t count() const { return lines_.size(); }
  std::string text() const;

 private:
  std::vector<std::string> lines_;
};

// The file as SQLite sees it.
class RawDatabase {
 public:
  explicit RawDatabase(const std::string& path);
  void run(const std::string& sql);
  // Rows of `column|column`, one a line.
  std::string rows(const std::string& sql);

 private:
  struct Close {
    void operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }
  };
  std::unique_ptr<sqlite3, Close> handle_;
};

std::string read_file(const std::string& path);
void write_file(const std::string& path, const std::string& bytes);
// Names in the folder of `path` that begin with `<path>.broken-` and are no journals.
std::vector<std::string> set_aside_of(const std::string& path);

}  // namespace strop::cache::test
