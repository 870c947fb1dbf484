// Whatever lies at the path: no exception, one warning, a working store, and nothing deleted.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/test_folder.h"
#include "tests/unit/cache/samples.h"

namespace strop::cache::test {
namespace {

namespace fs = std::filesystem;

class DamageTest : public ::testing::Test {
 protected:
  strop::test::TestFolder folder_;
  std::string path_ = (folder_.path() / "strop.db").string();

  // Asks for everything that was stored; what comes back is right or nothing.
  static void read_all(Store& store) {
    store.find_lease("nobody's");
    for (int i = 0; i < 3; ++i) {
      const auto code = fmt::format("code{}", i);
      const auto winner = store.find_winner(entry_of(2 + i));
      EXPECT_TRUE(!winner || winner->config.str() == "{rows=16, vec=4}");
      const auto binary = store.find_binary(code, "");
      EXPECT_TRUE(!binary || binary->bytes == binary_of(code).bytes);
      store.trials_of(entry_of(2 + i));
      store.winners_of(entry_of(2 + i));
      store.touch(entry_of(2 + i));
    }
  }

  void overwrite(std::size_t from, std::size_t count) {
    auto bytes = read_file(path_);
    ASSERT_GE(bytes.size(), from + count);
    for (std::size_t i = 0; i < count; ++i) bytes[from + i] = static_cast<char>(0xa5 ^ (i * 7));
    write_file(path_, bytes);
  }

  void expect_set_aside(const std::string& damaged) {
    Warnings warnings;
    read_all(*open_at(path_));
    expect_working(path_);
    EXPECT_EQ(warnings.count(), 1u) << warnings.text();
    const auto aside = set_aside_of(path_);
    ASSERT_EQ(aside.size(), 1u);
    EXPECT_EQ(read_file(aside[0]), damaged);
  }
};

TEST_F(DamageTest, one_changed_byte_of_a_binary_is_a_miss_a_warning_and_a_removal) {
  fill(path_);
  RawDatabase(path_).run("UPDATE binary_v1 SET bytes = CAST(replace(hex(bytes), hex(bytes), 'x') || substr(bytes, 2) AS BLOB) WHERE code = 'code1'");
  Warnings warnings;
  const auto store = open_at(path_);
  EXPECT_FALSE(store->find_binary("code1", "").has_value());
  EXPECT_EQ(warnings.count(), 1u) << warnings.text();
  EXPECT_EQ(RawDatabase(path_).rows("SELECT code FROM binary_v1 ORDER BY code"), "code0\ncode2\n");
  EXPECT_TRUE(store->find_binary("code0", "").has_value());
  EXPECT_TRUE(store->find_winner(entry_of(3)).has_value());  // the winner needs no re-tuning, only a compile
  EXPECT_TRUE(store->put_binary(binary_of("code1"), true));
  EXPECT_TRUE(store->find_binary("code1", "").has_value());
}

TEST_F(DamageTest, a_damaged_binary_that_is_met_costs_nobody_elses_row) {
  fill(path_);
  RawDatabase(path_).run("UPDATE binary_v1 SET bytes = x'00' WHERE code IN ('code1', 'code2'); "
                         "UPDATE winner_v1 SET config = 'rows:16' WHERE code = 'code0'");
  const auto store = open_at(path_);
  EXPECT_FALSE(store->find_binary("code1", "").has_value());
  EXPECT_EQ(RawDatabase(path_).rows("SELECT code FROM binary_v1 ORDER BY code"), "code0\ncode2\n");
  EXPECT_EQ(RawDatabase(path_).rows("SELECT count(*) FROM winner_v1"), "3\n");
}

TEST_F(DamageTest, one_changed_byte_in_the_file_is_found_when_the_binary_is_read) {
  fill(path_);
  auto bytes = read_file(path_);
  const auto at = bytes.find(binary_of("code1").bytes.substr(0, 200));
  ASSERT_NE(at, std::string::npos);
  bytes[at + 100] = static_cast<char>(bytes[at + 100] ^ 0x10);
  write_file(path_, bytes);
  Warnings warnings;
  EXPECT_FALSE(open_at(path_)->find_binary("code1", "").has_value());
  EXPECT_EQ(warnings.count(), 1u) << warnings.text();
  EXPECT_TRUE(open_at(path_)->verify(false).empty());
}

TEST_F(DamageTest, a_damaged_binary_in_a_cache_that_is_only_looked_at_is_not_said_to_be_removed) {
  fill(path_);
  RawDatabase(path_).run("UPDATE binary_v1 SET bytes = x'00' WHERE code = 'code1'");
  StoreOptions looking;
  looking.path = path_;
  looking.read_only = true;
  Warnings warnings;
  EXPECT_FALSE(Store::open(looking)->find_binary("code1", "").has_value());
  EXPECT_EQ(warnings.count(), 1u);
  EXPECT_EQ(warnings.text().find("removed"), std::string::npos) << warnings.text();
}

TEST_F(DamageTest, two_exchanged_binaries_are_both_misses) {
  fill(path_);
  RawDatabase(path_).run(
      "CREATE TEMP TABLE was AS SELECT code, bytes, checksum FROM binary_v1;"
      "UPDATE binary_v1 SET (bytes, checksum) = (SELECT bytes, checksum FROM was WHERE was.code = "
      "CASE binary_v1.code WHEN 'code0' THEN 'code1' ELSE 'code0' END) WHERE code IN ('code0', 'code1')");
  Warnings warnings;
  const auto store = open_at(path_);
  EXPECT_EQ(store->verify(false).size(), 2u);
  EXPECT_FALSE(store->find_binary("code0", "").has_value());
  EXPECT_FALSE(store->find_binary("code1", "").has_value());
  EXPECT_TRUE(store->find_binary("code2", "").has_value());
  EXPECT_EQ(warnings.count(), 2u) << warnings.text();  // one a binary
}

TEST_F(DamageTest, verify_tells_and_repairs) {
  fill(path_);
  RawDatabase(path_).run("UPDATE binary_v1 SET bytes = x'00' WHERE code = 'code1'");
  const auto store = open_at(path_);
  auto found = store->verify(false);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_FALSE(found[0].repaired);
  EXPECT_NE(found[0].what.find("code1"), std::string::npos) << found[0].what;
  found = store->verify(true);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].repaired);
  EXPECT_TRUE(store->verify(false).empty());
}

TEST_F(DamageTest, a_row_that_can_not_be_read_is_passed_over_and_reported) {
  fill(path_);
  RawDatabase(path_).run("UPDATE winner_v1 SET config = 'rows:16' WHERE code = 'code1'");
  const auto store = open_at(path_);
  EXPECT_FALSE(store->find_winner(entry_of(3)).has_value());
  EXPECT_TRUE(store->find_winner(entry_of(2)).has_value());
  EXPECT_EQ(store->verify(false).size(), 1u);
}

TEST_F(DamageTest, the_second_page_overwritten) {
  fill(path_);
  overwrite(4096, 4096);
  expect_set_aside(read_file(path_));
}

TEST_F(DamageTest, any_page_overwritten) {
  fill(path_);
  const auto whole = read_file(path_);
  for (std::size_t from = 0; from < whole.size(); from += 4096) {
    SCOPED_TRACE(from);
    const auto path = path_ + std::to_string(from);  // a warning is given once a path
    write_file(path_, whole);
    overwrite(from, 4096);
    const auto damaged = read_file(path_).substr(from, 4096);
    fs::rename(path_, path);
    Warnings warnings;
    read_all(*open_at(path));
    expect_working(path);
    EXPECT_GE(warnings.count(), 1u);
    const auto aside = set_aside_of(path);
    for (const auto& name : aside) EXPECT_TRUE(read_file(name).substr(from, 4096) == damaged);  // other pages may have been written before
    EXPECT_LE(aside.size(), 1u);
  }
}

TEST_F(DamageTest, truncated_to_nothing_is_a_new_database) {
  fill(path_);
  fs::resize_file(path_, 0);
  Warnings warnings;
  read_all(*open_at(path_));
  expect_working(path_);
  EXPECT_EQ(warnings.count(), 0u) << warnings.text();  // an empty file is what a process leaves that died while making one
}

TEST_F(DamageTest, truncated_to_100_bytes) {
  fill(path_);
  fs::resize_file(path_, 100);
  expect_set_aside(read_file(path_));
}

TEST_F(DamageTest, truncated_to_half) {
  fill(path_);
  fs::resize_file(path_, fs::file_size(path_) / 2);
  expect_set_aside(read_file(path_));
}

TEST_F(DamageTest, a_text_file) {
  write_file(path_, "not a database, but somebody's notes\n");
  expect_set_aside(read_file(path_));
}

TEST_F(DamageTest, a_long_text_file) {
  write_file(path_, std::string(20000, 'n'));
  expect_set_aside(read_file(path_));
}

TEST_F(DamageTest, tables_missing) {
  fill(path_);
  RawDatabase(path_).run("DROP TABLE trial_v1; PRAGMA wal_checkpoint(TRUNCATE)");
  expect_set_aside(read_file(path_));
}

class AnothersTest : public DamageTest {
 protected:
  void expect_left_alone() {
    const auto before = read_file(path_);
    Warnings warnings;
    EXPECT_EQ(open_at(path_)->path(), path_ + ".strop1");
    expect_working(path_);
    EXPECT_EQ(warnings.count(), 1u) << warnings.text();
    EXPECT_EQ(read_file(path_), before);
    EXPECT_TRUE(fs::exists(path_ + ".strop1"));
    EXPECT_TRUE(set_aside_of(path_).empty());
  }
};

TEST_F(AnothersTest, an_application_id_that_is_not_ours) {
  RawDatabase(path_).run("PRAGMA application_id = 7; CREATE TABLE theirs (x); INSERT INTO theirs VALUES (1)");
  expect_left_alone();
}

TEST_F(AnothersTest, tables_and_no_application_id) {
  RawDatabase(path_).run("CREATE TABLE theirs (x)");
  expect_left_alone();
}

TEST_F(AnothersTest, a_later_format) {
  fill(path_);
  RawDatabase(path_).run("PRAGMA user_version = 2; PRAGMA wal_checkpoint(TRUNCATE)");
  expect_left_alone();
}

TEST_F(AnothersTest, a_damaged_one_is_left_alone_too) {
  RawDatabase(path_).run("PRAGMA application_id = 7; CREATE TABLE theirs (x)");
  overwrite(100, 3000);
  expect_left_alone();
}

TEST_F(AnothersTest, the_file_beside_it_may_be_damaged_in_turn) {
  RawDatabase(path_).run("PRAGMA application_id = 7; CREATE TABLE theirs (x)");
  write_file(path_ + ".strop1", "damaged");
  const auto before = read_file(path_);
  Warnings warnings;
  expect_working(path_);
  EXPECT_EQ(warnings.count(), 2u) << warnings.text();  // one a file
  EXPECT_EQ(read_file(path_), before);
  const auto aside = set_aside_of(path_ + ".strop1");
  ASSERT_EQ(aside.size(), 1u);
  EXPECT_EQ(read_file(aside[0]), "damaged");
}

// What a killed process leaves: the main file, and a journal that was not merged.
class JournalTest : public DamageTest {
 protected:
  void leave_unmerged() {
    const auto source = path_ + ".source";
    fill(source, 1);
    const auto store = open_at(source);
    for (int i = 1; i < 3; ++i) {
      const auto code = fmt::format("code{}", i);
      ASSERT_TRUE(store->put_winner(winner_of(entry_of(2 + i), code), binary_of(code)));
    }
    ASSERT_GT(fs::file_size(source + "-wal"), 0u);
    for (const char* end : {"", "-wal", "-shm"}) fs::copy_file(source + end, path_ + end);
  }
};

TEST_F(JournalTest, with_its_journal_everything_is_there) {
  leave_unmerged();
  Warnings warnings;
  EXPECT_EQ(open_at(path_)->list().size(), 3u);
  EXPECT_EQ(warnings.count(), 0u) << warnings.text();
}

TEST_F(JournalTest, the_index_of_the_journal_removed) {
  leave_unmerged();
  fs::remove(path_ + "-shm");
  Warnings warnings;
  EXPECT_EQ(open_at(path_)->list().size(), 3u);
  expect_working(path_);
  EXPECT_EQ(warnings.count(), 0u) << warnings.text();
}

TEST_F(JournalTest, journal_and_index_removed_lose_what_was_not_merged_and_nothing_else) {
  leave_unmerged();
  fs::remove(path_ + "-shm");
  fs::remove(path_ + "-wal");
  Warnings warnings;
  const auto store = open_at(path_);
  EXPECT_TRUE(store->find_winner(entry_of(2)).has_value());
  read_all(*store);
  EXPECT_TRUE(store->verify(false).empty());
  expect_working(path_);
  EXPECT_EQ(warnings.count(), 0u) << warnings.text();
}

TEST_F(JournalTest, a_damaged_journal_is_used_up_to_the_damage) {
  leave_unmerged();
  auto journal = read_file(path_ + "-wal");
  for (std::size_t i = journal.size() / 2; i < journal.size(); ++i) journal[i] = 'x';
  write_file(path_ + "-wal", journal);
  fs::remove(path_ + "-shm");
  const auto store = open_at(path_);
  EXPECT_TRUE(store->find_winner(entry_of(2)).has_value());
  read_all(*store);
  EXPECT_TRUE(store->verify(false).empty());
  expect_working(path_);
}

TEST_F(DamageTest, damage_met_while_open_is_set_aside_and_the_same_store_goes_on) {
  fill(path_);
  const auto store = open_at(path_);
  ASSERT_TRUE(store->find_winner(entry_of(2)).has_value());
  overwrite(4096, fs::file_size(path_) - 4096);
  RawDatabase(path_).rows("PRAGMA schema_version");
  Warnings warnings;
  read_all(*open_at(path_));
  read_all(*store);
  EXPECT_TRUE(store->put_winner(winner_of(entry_of(5), "late"), binary_of("late")));
  EXPECT_TRUE(store->find_winner(entry_of(5)).has_value());
  EXPECT_GE(warnings.count(), 1u);
  expect_working(path_);
}

}  // namespace
}  // namespace strop::cache::test
