// Paths as people have them.

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/test_folder.h"
#include "tests/unit/cache/samples.h"

namespace strop::cache::test {
namespace {

namespace fs = std::filesystem;

class PathsTest : public ::testing::Test {
 protected:
  strop::test::TestFolder folder_;
  std::string in(const std::string& name) const { return (folder_.path() / name).string(); }
};

TEST_F(PathsTest, percent_question_mark_hash_blank_and_letters_outside_ascii) {
  for (const char* name : {"100%41.db", "what?mode=memory.db", "a#b.db", "two words.db", "Zwischenspeicher-Größe-キャッシュ.db", "%/q?/#.db"}) {
    SCOPED_TRACE(name);
    Warnings warnings;
    expect_working(in(name));
    EXPECT_TRUE(fs::is_regular_file(in(name)));
    StoreOptions looking;
    looking.path = in(name);
    looking.read_only = true;
    EXPECT_EQ(Store::open(looking)->list().size(), 1u);
    EXPECT_EQ(warnings.count(), 0u) << warnings.text();
  }
}

TEST_F(PathsTest, names_that_sqlite_would_not_take_for_files) {
  const auto before = fs::current_path();
  fs::current_path(folder_.path());
  Warnings warnings;
  for (const char* name : {":memory:", "file:x.db", "plain.db"}) {
    SCOPED_TRACE(name);
    expect_working(name);
    EXPECT_TRUE(fs::is_regular_file(in(name)));
  }
  EXPECT_EQ(warnings.count(), 0u) << warnings.text();
  fs::current_path(before);
}

TEST_F(PathsTest, missing_folders_are_made) {
  Warnings warnings;
  expect_working(in("a/b/c/strop.db"));
  EXPECT_EQ(warnings.count(), 0u) << warnings.text();
  EXPECT_EQ(fs::status(in("a/b/c/strop.db")).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(PathsTest, a_folder_at_the_path_means_memory_and_one_warning) {
  fs::create_directories(in("strop.db/inside"));
  Warnings warnings;
  expect_working(in("strop.db"), false);
  EXPECT_EQ(open_at(in("strop.db"))->path(), "");
  EXPECT_EQ(warnings.count(), 1u) << warnings.text();
  EXPECT_TRUE(fs::is_directory(in("strop.db/inside")));
}

TEST_F(PathsTest, a_file_where_a_folder_should_be_means_memory_and_one_warning) {
  write_file(in("file"), "theirs");
  Warnings warnings;
  expect_working(in("file/strop.db"), false);
  EXPECT_EQ(warnings.count(), 1u) << warnings.text();
  EXPECT_EQ(read_file(in("file")), "theirs");
}

TEST_F(PathsTest, a_link_to_a_database_is_that_database) {
  fs::create_directory(in("real"));
  fill(in("real/strop.db"));
  fs::create_symlink(in("real/strop.db"), in("link.db"));
  Warnings warnings;
  expect_working(in("link.db"));
  EXPECT_EQ(open_at(in("real/strop.db"))->list().size(), 4u);
  EXPECT_EQ(warnings.count(), 0u) << warnings.text();
  EXPECT_TRUE(fs::is_symlink(in("link.db")));
  EXPECT_FALSE(fs::exists(in("link.db.lock"))) << "writers by either name must meet at one lock";
}

TEST_F(PathsTest, a_link_to_a_damaged_database_sets_the_database_aside) {
  fs::create_directory(in("real"));
  write_file(in("real/strop.db"), "no database at all");
  fs::create_symlink(in("real/strop.db"), in("link.db"));
  Warnings warnings;
  expect_working(in("link.db"));
  EXPECT_EQ(warnings.count(), 1u) << warnings.text();
  const auto aside = set_aside_of(in("real/strop.db"));
  ASSERT_EQ(aside.size(), 1u);
  EXPECT_EQ(read_file(aside[0]), "no database at all");
}

TEST_F(PathsTest, a_dangling_link_is_made_good) {
  fs::create_directory(in("real"));
  fs::create_symlink(in("real/strop.db"), in("link.db"));
  Warnings warnings;
  expect_working(in("link.db"));
  EXPECT_TRUE(fs::is_regular_file(in("real/strop.db")));
  EXPECT_TRUE(fs::is_symlink(in("link.db")));
  EXPECT_EQ(warnings.count(), 0u) << warnings.text();
}

TEST_F(PathsTest, a_link_into_a_folder_that_is_not_there_works_and_warns_at_most_once) {
  fs::create_symlink(in("gone/strop.db"), in("link.db"));
  Warnings warnings;
  const auto store = open_at(in("link.db"));
  store->put_winner(winner_of(entry_of(4), "aa"), std::nullopt);
  EXPECT_TRUE(store->find_winner(entry_of(4)).has_value());
  EXPECT_LE(warnings.count(), 1u) << warnings.text();
  EXPECT_TRUE(fs::is_symlink(in("link.db")));
}

TEST_F(PathsTest, links_in_a_circle_mean_memory_and_one_warning) {
  fs::create_symlink(in("b.db"), in("a.db"));
  fs::create_symlink(in("a.db"), in("b.db"));
  {
    Warnings warnings;
    expect_working(in("a.db"), false);
    EXPECT_EQ(warnings.count(), 1u) << warnings.text();
  }
  StoreOptions looking;
  looking.path = in("b.db");
  looking.read_only = true;
  EXPECT_TRUE(Store::open(looking)->list().empty());
  EXPECT_TRUE(fs::is_symlink(in("a.db")));
}

TEST_F(PathsTest, looking_creates_nothing) {
  StoreOptions looking;
  looking.path = in("none/strop.db");
  looking.read_only = true;
  Warnings warnings;
  EXPECT_TRUE(Store::open(looking)->list().empty());
  EXPECT_EQ(warnings.count(), 0u) << warnings.text();
  EXPECT_TRUE(folder_.empty());
}

TEST_F(PathsTest, looking_at_a_damaged_database_moves_nothing) {
  write_file(in("strop.db"), "damaged");
  StoreOptions looking;
  looking.path = in("strop.db");
  looking.read_only = true;
  Warnings warnings;
  EXPECT_TRUE(Store::open(looking)->list().empty());
  EXPECT_EQ(warnings.count(), 1u) << warnings.text();
  EXPECT_EQ(read_file(in("strop.db")), "damaged");
}

TEST_F(PathsTest, memory_works_and_warns_of_nothing) {
  Warnings warnings;
  expect_working("", false);
  EXPECT_EQ(warnings.count(), 0u) << warnings.text();
  EXPECT_TRUE(folder_.empty());
}

}  // namespace
}  // namespace strop::cache::test
