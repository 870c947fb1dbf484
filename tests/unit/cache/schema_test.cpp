// The format, held by two golden files: what is stored today must be what those say, and be read back from them.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/support/test_folder.h"
#include "tests/unit/cache/samples.h"

namespace strop::cache::test {
namespace {

constexpr const char* kAdvice = "the format changed: that takes a new format number (cache/schema.h), new table names and new golden files";

std::string golden(const std::string& name) { return read_file(std::string(STROP_GOLDEN_ROOT) + "/" + name); }

std::string schema_of(RawDatabase& raw) {
  return raw.rows("SELECT sql || ';' FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid") +
         raw.rows("SELECT 'PRAGMA application_id = ' || application_id || ';' FROM pragma_application_id") +
         raw.rows("SELECT 'PRAGMA user_version = ' || user_version || ';' FROM pragma_user_version");
}

// The rows as statements that would make them.
std::string inserts_of(RawDatabase& raw, const std::string& table) {
  auto columns = raw.rows(fmt::format("SELECT group_concat('quote(' || name || ')', ' || '', '' || ') FROM pragma_table_info('{}')", table));
  columns.pop_back();
  return raw.rows(fmt::format("SELECT 'INSERT INTO {0} VALUES (' || {1} || ');' FROM {0}", table, columns));
}

class SchemaTest : public ::testing::Test {
 protected:
  strop::test::TestFolder folder_;
  std::string path_ = (folder_.path() / "strop.db").string();
};

TEST_F(SchemaTest, the_stored_schema_is_the_golden_one) {
  open_at(path_);
  RawDatabase raw(path_);
  EXPECT_EQ(schema_of(raw), golden("cache_schema_v1.sql")) << kAdvice;
}

TEST_F(SchemaTest, a_stored_winner_is_the_golden_row) {
  ASSERT_TRUE(open_at(path_)->put_winner(winner_of(entry_of(4), "c0de"), std::nullopt));
  RawDatabase raw(path_);
  EXPECT_EQ(inserts_of(raw, "environment_v1") + inserts_of(raw, "entry_v1") + inserts_of(raw, "winner_v1"), golden("cache_winner_v1.sql"))
      << kAdvice;
}

TEST_F(SchemaTest, a_database_made_from_the_golden_files_is_read) {
  RawDatabase(path_).run(golden("cache_schema_v1.sql") + golden("cache_winner_v1.sql"));
  Warnings warnings;
  const auto winner = open_at(path_)->find_winner(entry_of(4));
  ASSERT_TRUE(winner.has_value());
  EXPECT_EQ(winner->code, "c0de");
  EXPECT_EQ(winner->config.str(), "{rows=16, vec=4}");
  EXPECT_EQ(winner->time.median_us, 12.5);
  EXPECT_EQ(winner->environment.driver, "580.159.03");
  EXPECT_EQ(warnings.count(), 0u) << warnings.text();
}

}  // namespace
}  // namespace strop::cache::test
