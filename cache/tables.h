#pragma once

// The rows of one open database. Every method is one short transaction and may throw SqliteError; what to do about that is the
// store's. Used by one thread at a time.

#include <optional>
#include <string>
#include <vector>

#include "cache/sqlite.h"
#include "cache/store.h"

namespace strop::cache {

class Tables {
 public:
  // `lock_path`: the file whose writers are serialised; empty for memory.
  Tables(Database database, std::string lock_path, int timeout_ms)
      : database_(std::move(database)), lock_path_(std::move(lock_path)), timeout_ms_(timeout_ms) {}

  void set_timeout(int timeout_ms);  // how long to wait for other processes

  std::optional<Winner> find_winner(const EntryId& id);
  std::vector<Winner> winners_of(const EntryId& id);
  std::vector<Winner> all_winners();
  std::vector<Winner> unfinished();  // see Store::unfinished
  std::vector<StoredTrial> trials_of(const EntryId& id);
  // Empty when there is none; a binary whose checksum differs is passed over and `damaged` is set.
  std::optional<StoredBinary> find_binary(const std::string& code, const std::string& preferred_compiler, bool& damaged);
  std::vector<StoredBinary> binaries();

  void put_winner(const Winner& winner, const std::optional<StoredBinary>& binary);
  void put_trial(const StoredTrial& trial);
  void put_binary(const StoredBinary& binary, bool kept);
  void drop_damaged(const std::string& code);  // those of its binaries whose checksum still differs
  void touch(const EntryId& id, std::int64_t now);
  void remove(const std::vector<Winner>& winners);

  std::optional<Lease> find_lease(const std::string& scope);
  bool claim_lease(const Lease& mine);
  bool take_over_lease(const Lease& seen, const Lease& mine);
  void release_lease(const std::string& scope, const std::string& owner);

  Stats stats();
  std::vector<Damage> verify(bool repair);
  void drop_unreferenced();
  // Removes what costs least to lose until the file would fit.
  void shrink_to(std::uint64_t max_bytes);
  void vacuum();
  std::uint64_t bytes();

 private:
  std::int64_t environment_id(const Environment& environment);
  std::int64_t entry_id(const EntryId& id);
  void insert_binary(const StoredBinary& binary, bool kept);
  bool evict_some();  // in a transaction; false: there is nothing to remove
  bool evict_tuning(std::int64_t time);
  void remove_entry(const std::string& handle);
  std::vector<Winner> select(const std::string& where, const std::vector<std::string>& values);

  Database database_;
  std::string lock_path_;
  int timeout_ms_;
};

}  // namespace strop::cache
