// After a repair the cache is whole, whatever the damage was; and what is no file is never opened.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <random>

#include "strop/error.h"
#include "tests/support/test_folder.h"
#include "tests/unit/cache/samples.h"

namespace strop::cache::test {
namespace {

namespace fs = std::filesystem;

class RepairTest : public ::testing::Test {
 protected:
  strop::test::TestFolder folder_;
  std::string path_ = (folder_.path() / "strop.db").string();

  static std::unique_ptr<Store> look_at(const std::string& path) {
    StoreOptions options;
    options.path = path;
    options.read_only = true;
    return Store::open(options);
  }

  void expect_repaired() {
    const auto found = open_at(path_)->verify(true);
    EXPECT_FALSE(found.empty());
    for (const auto& damage : found) EXPECT_TRUE(damage.repaired) << damage.what;
    EXPECT_TRUE(look_at(path_)->verify(false).empty());
  }
};

std::string damaged(std::string bytes, std::mt19937& random) {
  constexpr std::size_t kPage = 4096;
  const auto below = [&](std::size_t bound) { return static_cast<std::size_t>(random() % bound); };
  const auto pages = bytes.size() / kPage;
  switch (below(5)) {
    case 0:  // single bytes
      for (int i = 0; i < 20; ++i) bytes[below(bytes.size())] = static_cast<char>(random());
      break;
    case 1: bytes.resize(below(bytes.size())); break;
    case 2:  // two pages change places
      if (const auto a = below(pages), b = below(pages); a != b) {
        const auto page = bytes.substr(a * kPage, kPage);
        bytes.replace(a * kPage, kPage, bytes.substr(b * kPage, kPage));
        bytes.replace(b * kPage, kPage, page);
      }
      break;
    case 3: bytes.replace(below(pages) * kPage, kPage, std::string(kPage, '\0')); break;
    default:  // noise over a page
      for (std::size_t at = below(pages) * kPage, n = 0; n < kPage; ++n) bytes[at + n] = static_cast<char>(random());
  }
  return bytes;
}

TEST_F(RepairTest, after_a_repair_a_verify_is_clean_for_sixty_random_damages) {
  fill(path_, 8);
  RawDatabase(path_).run("PRAGMA wal_checkpoint(TRUNCATE)");
  const auto whole = read_file(path_);
  std::mt19937 random(20261201);
  for (int round = 0; round < 60; ++round) {
    SCOPED_TRACE(round);
    const auto path = (folder_.path() / fmt::format("round{}.db", round)).string();
    write_file(path, damaged(whole, random));
    EXPECT_NO_THROW(open_at(path)->verify(true));
    std::vector<Damage> left;
    EXPECT_NO_THROW(left = look_at(path)->verify(false));
    for (const auto& damage : left) ADD_FAILURE() << damage.what;
    EXPECT_NO_THROW(open_at(path)->prune(0));
    expect_working(path);
  }
}

TEST_F(RepairTest, columns_that_say_what_a_row_is_are_found_lost_and_repaired) {
  for (const char* lost : {"UPDATE entry_v1 SET kernel = '' WHERE id = 1", "UPDATE entry_v1 SET key = '' WHERE id = 1",
                           "UPDATE entry_v1 SET key = 'D=1' WHERE id = 1", "UPDATE entry_v1 SET device_class = 'other' WHERE id = 1",
                           "UPDATE entry_v1 SET template_digest = '' WHERE id = 1", "UPDATE binary_v1 SET entry = '' WHERE code = 'code0'",
                           "UPDATE binary_v1 SET target = '' WHERE code = 'code0'"}) {
    SCOPED_TRACE(lost);
    std::filesystem::remove(path_);
    fill(path_);
    RawDatabase(path_).run(lost);
    expect_repaired();
    EXPECT_EQ(open_at(path_)->list().size() + open_at(path_)->binaries().size(), std::string(lost).find("binary") == std::string::npos ? 4u : 5u);
  }
}

TEST_F(RepairTest, storing_again_heals_the_columns_of_an_entry) {
  for (const char* lost : {"UPDATE entry_v1 SET kernel = ''", "UPDATE entry_v1 SET device_class = '', template_digest = ''",
                           "UPDATE binary_v1 SET entry = '', target = ''"}) {
    SCOPED_TRACE(lost);
    fill(path_);
    RawDatabase(path_).run(lost);
    fill(path_);
    EXPECT_TRUE(look_at(path_)->verify(false).empty());
    EXPECT_EQ(look_at(path_)->list().size(), 3u);
    EXPECT_EQ(look_at(path_)->find_binary("code1", "")->entry, binary_of("code1").entry);
  }
}

TEST_F(RepairTest, pruning_repairs_what_is_damaged) {
  fill(path_, 8);
  RawDatabase(path_).run("PRAGMA wal_checkpoint(TRUNCATE)");
  const auto whole = read_file(path_);
  std::mt19937 random(3);
  std::size_t aside = 0;
  for (int round = 0; round < 20; ++round) {
    SCOPED_TRACE(round);
    const auto path = (folder_.path() / fmt::format("round{}.db", round)).string();
    write_file(path, damaged(whole, random));
    EXPECT_NO_THROW(open_at(path)->prune(0));
    for (const auto& damage : look_at(path)->verify(false)) ADD_FAILURE() << damage.what;
    aside += set_aside_of(path).size();
  }
  EXPECT_GT(aside, 0u);
}

TEST_F(RepairTest, references_that_dangle_are_found_and_removed) {
  for (const char* sql : {"UPDATE winner_v1 SET environment = 999", "DELETE FROM environment_v1", "DELETE FROM entry_v1",
                          "UPDATE trial_v1 SET environment = 999", "UPDATE winner_v1 SET median_us = 'abc'", "UPDATE winner_v1 SET median_us = -1e308",
                          "UPDATE winner_v1 SET median_us = 9e999", "UPDATE trial_v1 SET verdict = 'Purple 7'", "UPDATE winner_v1 SET config = 'garbage'"}) {
    SCOPED_TRACE(sql);
    path_ = (folder_.path() / fmt::format("{}.db", std::hash<std::string>{}(sql))).string();
    fill(path_);
    RawDatabase(path_).run(sql);
    EXPECT_FALSE(look_at(path_)->verify(false).empty());
    expect_repaired();
  }
}

TEST_F(RepairTest, a_verdict_that_a_later_build_knows_stays) {
  fill(path_);
  RawDatabase(path_).run("UPDATE trial_v1 SET verdict = 'purple' WHERE code = 'code1'");
  const auto store = open_at(path_);
  EXPECT_TRUE(store->trials_of(entry_of(3)).empty());
  EXPECT_TRUE(store->verify(true).empty());
  EXPECT_EQ(RawDatabase(path_).rows("SELECT count(*) FROM trial_v1 WHERE verdict = 'purple'"), "1\n");
}

TEST_F(RepairTest, a_pipe_is_never_opened) {
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  Warnings warnings;
  expect_working(path_, false);
  EXPECT_EQ(warnings.count(), 1u) << warnings.text();
  EXPECT_NE(warnings.text().find("no regular file"), std::string::npos) << warnings.text();
  EXPECT_NE(look_at(path_)->trouble().find("no regular file"), std::string::npos);
}

TEST_F(RepairTest, an_empty_file_is_an_empty_cache_for_who_looks) {
  write_file(path_, "");
  Warnings warnings;
  const auto store = look_at(path_);
  EXPECT_EQ(store->path(), path_);
  EXPECT_TRUE(store->list().empty());
  EXPECT_TRUE(store->verify(false).empty());
  EXPECT_EQ(warnings.count(), 0u) << warnings.text();
  EXPECT_EQ(fs::file_size(path_), 0u);
}

TEST_F(RepairTest, who_looks_sees_the_file_beside_another_applications_database) {
  RawDatabase(path_).run("CREATE TABLE theirs (x)");
  EXPECT_TRUE(look_at(path_)->list().empty());
  EXPECT_FALSE(fs::exists(path_ + ".strop1"));
  fill(path_);
  EXPECT_EQ(look_at(path_)->path(), path_ + ".strop1");
  EXPECT_EQ(look_at(path_)->list().size(), 3u);
}

TEST_F(RepairTest, troubles_say_what_helps) {
  write_file(path_, "no database");
  EXPECT_NE(look_at(path_)->trouble().find("--repair"), std::string::npos);
  const auto folder = (folder_.path() / "folder.db").string();
  fs::create_directory(folder);
  EXPECT_NE(look_at(folder)->trouble().find("is a folder"), std::string::npos);
  const auto loop = (folder_.path() / "loop.db").string();
  fs::create_symlink(loop, loop);
  EXPECT_NE(look_at(loop)->trouble().find("circle"), std::string::npos) << look_at(loop)->trouble();
}

TEST_F(RepairTest, the_file_is_private_from_the_start) {
  const auto before = ::umask(0);
  open_at(path_);
  ::umask(before);
  EXPECT_EQ(fs::status(path_).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

}  // namespace
}  // namespace strop::cache::test
