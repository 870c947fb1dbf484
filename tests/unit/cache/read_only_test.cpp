// What can't be written is read; what is new then lives in memory.

#include <gtest/gtest.h>

#include <filesystem>

#include "strop/error.h"
#include "tests/support/test_folder.h"
#include "tests/unit/cache/child.h"
#include "tests/unit/cache/samples.h"

namespace strop::cache::test {
namespace {

namespace fs = std::filesystem;
constexpr auto kAllRead = fs::perms::owner_read | fs::perms::group_read | fs::perms::others_read;
constexpr auto kAllEnter = fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec;

class ReadOnlyTest : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::permissions(folder_.path(), fs::perms::all);
    fs::create_directory(inner_);
    fs::permissions(inner_, fs::perms::all);
    fill(path_);
    before_ = read_file(path_);
  }
  void TearDown() override {
    fs::permissions(inner_, fs::perms::all);
    EXPECT_EQ(read_file(path_), before_);
    EXPECT_TRUE(set_aside_of(path_).empty());
  }

  static int use(const std::string& path) {
    Warnings warnings;
    {
      const auto store = open_at(path);
      EXPECT_FALSE(store->writable());
      EXPECT_EQ(store->list().size(), 3u);
      EXPECT_TRUE(store->find_winner(entry_of(2)).has_value());
      EXPECT_TRUE(store->find_binary("code0", "").has_value());
      EXPECT_EQ(store->trials_of(entry_of(2)).size(), 1u);
      EXPECT_FALSE(store->put_winner(winner_of(entry_of(77), "new"), binary_of("new")));
      EXPECT_TRUE(store->find_winner(entry_of(77)).has_value());
      EXPECT_TRUE(store->find_binary("new", "").has_value());
      store->touch(entry_of(2));
      EXPECT_THROW(store->prune(0), CacheError);
      EXPECT_THROW(store->remove(store->list()), CacheError);
      EXPECT_TRUE(store->verify(true).empty());
    }
    EXPECT_FALSE(open_at(path)->find_winner(entry_of(77)).has_value());
    EXPECT_EQ(warnings.count(), 1u) << warnings.text();
    return ::testing::Test::HasFailure() ? 1 : 0;
  }

  void expect_use() {
    const int code = run_as_nobody([&] { return use(path_); });
    if (code == kNotPossible) GTEST_SKIP() << "this user can't become another one for whom permissions count";
    EXPECT_EQ(code, 0);
  }

  strop::test::TestFolder folder_;
  fs::path inner_ = folder_.path() / "inner";
  std::string path_ = (inner_ / "strop.db").string();
  std::string before_;
};

TEST_F(ReadOnlyTest, a_file_that_can_not_be_written) {
  fs::permissions(path_, kAllRead);
  expect_use();
}

TEST_F(ReadOnlyTest, a_folder_that_can_not_be_written) {
  fs::permissions(path_, kAllRead | fs::perms::owner_write | fs::perms::others_write);
  fs::permissions(inner_, kAllRead | kAllEnter);
  expect_use();
}

TEST_F(ReadOnlyTest, neither_file_nor_folder) {
  fs::permissions(path_, kAllRead);
  fs::permissions(inner_, kAllRead | kAllEnter);
  expect_use();
}

TEST_F(ReadOnlyTest, a_file_that_can_not_even_be_read_means_memory) {
  fs::permissions(path_, fs::perms::none);
  const int code = run_as_nobody([&] {
    Warnings warnings;
    expect_working(path_, false);
    EXPECT_EQ(open_at(path_)->path(), "");
    EXPECT_EQ(warnings.count(), 1u) << warnings.text();
    return ::testing::Test::HasFailure() ? 1 : 0;
  });
  fs::permissions(path_, kAllRead);
  if (code == kNotPossible) GTEST_SKIP() << "this user can't become another one for whom permissions count";
  EXPECT_EQ(code, 0);
}

TEST_F(ReadOnlyTest, a_folder_that_can_not_be_entered_means_memory_also_for_a_look) {
  fs::permissions(inner_, fs::perms::none);
  const int code = run_as_nobody([&] {
    Warnings warnings;
    expect_working(path_, false);
    EXPECT_EQ(warnings.count(), 1u) << warnings.text();
    StoreOptions looking;
    looking.path = path_;
    looking.read_only = true;
    EXPECT_TRUE(Store::open(looking)->list().empty());
    return ::testing::Test::HasFailure() ? 1 : 0;
  });
  if (code == kNotPossible) GTEST_SKIP() << "this user can't become another one for whom permissions count";
  EXPECT_EQ(code, 0);
}

TEST_F(ReadOnlyTest, a_new_database_in_a_folder_that_can_not_be_written_means_memory) {
  fs::permissions(inner_, kAllRead | kAllEnter);
  const int code = run_as_nobody([&] {
    Warnings warnings;
    expect_working((inner_ / "new.db").string(), false);
    EXPECT_EQ(warnings.count(), 1u) << warnings.text();
    return ::testing::Test::HasFailure() ? 1 : 0;
  });
  if (code == kNotPossible) GTEST_SKIP() << "this user can't become another one for whom permissions count";
  EXPECT_EQ(code, 0);
  EXPECT_FALSE(fs::exists(inner_ / "new.db"));
}

}  // namespace
}  // namespace strop::cache::test
