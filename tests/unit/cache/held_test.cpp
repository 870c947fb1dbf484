// A database that another process holds while it is opened is opened all the same, and written when it is let go; nobody's locks are
// dropped and nobody's journal is lost over it.

#include <fcntl.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "strop/error.h"
#include "tests/support/test_folder.h"
#include "tests/unit/cache/child.h"
#include "tests/unit/cache/held_lock.h"
#include "tests/unit/cache/samples.h"

namespace strop::cache::test {
namespace {

namespace fs = std::filesystem;

class HeldTest : public ::testing::Test {
 protected:
  std::unique_ptr<Store> open_impatient(bool read_only = false) const {
    StoreOptions options;
    options.path = path_;
    options.busy_timeout_ms = 50;
    options.read_only = read_only;
    return Store::open(options);
  }
  // What is put while it is held is owed, and in the file after the next write.
  void expect_owed_then_written(Store& store, const std::function<void()>& let_go) {
    EXPECT_TRUE(store.writable());
    EXPECT_EQ(store.path(), path_);
    EXPECT_NE(store.trouble().find("held by another process"), std::string::npos) << store.trouble();
    EXPECT_FALSE(store.put_winner(winner_of(entry_of(50), "late"), binary_of("late")));
    ASSERT_TRUE(store.find_winner(entry_of(50)).has_value());
    EXPECT_THROW(store.remove({winner_of(entry_of(50), "late")}), CacheError);
    let_go();
    EXPECT_TRUE(store.put_trial(trial_of(entry_of(51), "later", 16)));
    EXPECT_EQ(store.trouble(), "");
    EXPECT_TRUE(open_at(path_)->find_winner(entry_of(50)).has_value());
    EXPECT_EQ(open_at(path_)->trials_of(entry_of(51)).size(), 1u);
  }

  strop::test::TestFolder folder_;
  std::string path_ = (folder_.path() / "strop.db").string();
};

TEST_F(HeldTest, opening_a_database_that_is_there_waits_for_no_writer) {
  fill(path_);
  const HeldLock held(path_);
  Warnings warnings;
  const auto store = open_impatient();
  EXPECT_TRUE(store->writable());
  EXPECT_EQ(store->trouble(), "");
  EXPECT_EQ(store->list().size(), 3u);
  EXPECT_EQ(warnings.count(), 0u) << warnings.text();
}

TEST_F(HeldTest, one_that_another_is_making_is_written_when_it_is_made) {
  auto held = std::make_unique<HeldLock>(path_);
  Warnings warnings;
  const auto store = open_impatient();
  expect_owed_then_written(*store, [&] { held.reset(); });
  EXPECT_EQ(warnings.count(), 1u) << warnings.text();
}

TEST_F(HeldTest, one_in_another_programs_transaction_is_read_and_written_when_that_ends) {
  fill(path_);
  RawDatabase raw(path_);
  raw.run("PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE");
  Warnings warnings;
  const auto store = open_impatient();
  expect_owed_then_written(*store, [&] { raw.run("COMMIT"); });
  EXPECT_EQ(warnings.count(), 1u) << warnings.text();
  EXPECT_EQ(store->list().size(), 4u);
}

TEST_F(HeldTest, what_is_owed_to_one_held_at_opening_is_written_at_closing) {
  auto held = std::make_unique<HeldLock>(path_);
  auto store = open_impatient();
  EXPECT_FALSE(store->put_trial(trial_of(entry_of(51), "late", 16)));
  held.reset();
  Warnings warnings;
  store.reset();
  EXPECT_EQ(warnings.count(), 0u) << warnings.text();
  EXPECT_EQ(open_at(path_)->trials_of(entry_of(51)).size(), 1u);
}

// `immutable` would read it without locks while it changes.
TEST_F(HeldTest, who_looks_while_another_writes_is_told_to_try_again) {
  fill(path_);
  RawDatabase raw(path_);
  raw.run("PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE; DELETE FROM winner_v1");
  const auto store = open_impatient(true);
  EXPECT_TRUE(store->list().empty());
  EXPECT_NE(store->trouble().find("held by another process"), std::string::npos) << store->trouble();
}

// Between the two renames of a set_aside the file is gone and its journal still there.
TEST_F(HeldTest, a_journal_whose_file_is_just_set_aside_is_left_to_who_holds_the_lock) {
  fill(path_);
  fs::remove(path_);
  write_file(path_ + "-wal", "the last transactions");
  for (const bool empty : {false, true}) {
    SCOPED_TRACE(empty);
    if (empty) write_file(path_, "");
    const HeldLock held(path_);
    const auto store = open_impatient();
    EXPECT_FALSE(store->put_trial(trial_of(entry_of(51), "late", 16)));
    EXPECT_EQ(read_file(path_ + "-wal"), "the last transactions");
  }
}

// True in a process that would be refused an exclusive lock on the bytes by which SQLite says that a database is in use.
bool is_locked(const std::string& path) {
  constexpr off_t kFirst = 0x40000002, kCount = 510;
  return finish(start([&] {
           const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
           struct flock wanted {};
           wanted.l_type = F_WRLCK;
           wanted.l_whence = SEEK_SET;
           wanted.l_start = kFirst;
           wanted.l_len = kCount;
           return file >= 0 && fcntl(file, F_GETLK, &wanted) == 0 && wanted.l_type != F_UNLCK ? 1 : 0;
         })) == 1;
}

TEST_F(HeldTest, looking_whose_a_damaged_database_is_drops_no_lock_of_this_process) {
  fill(path_);
  const auto store = open_at(path_);
  ASSERT_TRUE(store->find_winner(entry_of(2)).has_value());
  ASSERT_TRUE(is_locked(path_));
  RawDatabase(path_).run("DROP TABLE trial_v1");
  Warnings warnings;
  const auto other = open_at(path_);
  EXPECT_EQ(warnings.count(), 1u) << warnings.text();
  const auto aside = set_aside_of(path_);
  ASSERT_EQ(aside.size(), 1u);
  EXPECT_TRUE(is_locked(aside[0])) << "the first store still has it open";
}

TEST_F(HeldTest, a_store_whose_file_another_store_set_aside_goes_on_in_the_new_one) {
  fill(path_);
  const auto store = open_at(path_);
  ASSERT_TRUE(store->find_winner(entry_of(2)).has_value());
  RawDatabase(path_).run("DROP TABLE trial_v1");
  const auto other = open_at(path_);
  ASSERT_EQ(set_aside_of(path_).size(), 1u);
  EXPECT_TRUE(store->put_winner(winner_of(entry_of(50), "late"), binary_of("late")));
  EXPECT_TRUE(other->find_winner(entry_of(50)).has_value());
  EXPECT_TRUE(other->put_winner(winner_of(entry_of(51), "later"), binary_of("later")));
  EXPECT_EQ(store->list().size(), 2u);
  EXPECT_TRUE(store->verify(false).empty());
}

TEST_F(HeldTest, a_store_whose_file_was_removed_begins_a_new_one) {
  fill(path_);
  const auto store = open_at(path_);
  for (const char* end : {"", "-wal", "-shm"}) fs::remove(path_ + end);
  EXPECT_TRUE(store->put_winner(winner_of(entry_of(50), "late"), binary_of("late")));
  EXPECT_TRUE(open_at(path_)->find_winner(entry_of(50)).has_value());
}

}  // namespace
}  // namespace strop::cache::test
