// What is kept for its own sake, and in which order things leave when the bound is reached.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "src/base/format.h"
#include "tests/support/test_folder.h"
#include "tests/unit/cache/samples.h"

namespace strop::cache::test {
namespace {

class BoundTest : public ::testing::Test {
 protected:
  std::unique_ptr<Store> open_bounded(std::uint64_t max_bytes) const {
    StoreOptions options;
    options.path = path_;
    options.max_bytes = max_bytes;
    return Store::open(options);
  }
  // A tuning without a winner, of some size.
  static void put_unfinished(Store& store, int width, std::int64_t landed_at) {
    for (int rows = 1; rows <= 20; ++rows) {
      auto trial = trial_of(entry_of(width), "x", rows);
      trial.trial.detail = std::string(4000, 'd');
      trial.landed_at = landed_at;
      ASSERT_TRUE(store.put_trial(trial));
    }
  }
  static void put_winner(Store& store, int width) {
    const auto code = fmt::format("code{}", width);
    ASSERT_TRUE(store.put_winner(winner_of(entry_of(width), code), binary_of(code, 100000)));
  }

  strop::test::TestFolder folder_;
  std::string path_ = (folder_.path() / "strop.db").string();
};

TEST_F(BoundTest, a_prune_drops_what_was_compiled_to_run_and_keeps_what_was_made_for_its_own_sake) {
  const auto store = open_at(path_);
  ASSERT_TRUE(store->put_binary(binary_of("of a hit"), false));
  ASSERT_TRUE(store->put_binary(binary_of("asked for"), true));
  store->prune(0);
  EXPECT_FALSE(store->find_binary("of a hit", "").has_value());
  EXPECT_TRUE(store->find_binary("asked for", "").has_value());
}

TEST_F(BoundTest, binaries_alone_keep_to_the_bound) {
  const auto store = open_bounded(400000);
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(store->put_binary(binary_of(fmt::format("code{}", i), 100000), true));
  EXPECT_LE(store->stats().binary_bytes, 400000u);
}

TEST_F(BoundTest, trials_alone_keep_to_the_bound) {
  const auto store = open_bounded(400000);
  for (int i = 0; i < 10; ++i) put_unfinished(*store, 100 + i, 1764583100 + i);
  EXPECT_LT(store->unfinished().size(), 10u);
  EXPECT_EQ(store->trials_of(entry_of(109)).size(), 20u);
}

TEST_F(BoundTest, a_tuning_that_may_be_going_on_outlives_one_that_was_given_up_and_old_winners) {
  {
    const auto store = open_at(path_);
    put_unfinished(*store, 100, 1764583100);
    put_unfinished(*store, 101, unix_now());
    for (int i = 0; i < 4; ++i) put_winner(*store, i);
  }
  put_winner(*open_bounded(500000), 4);
  const auto store = open_at(path_);
  EXPECT_TRUE(store->trials_of(entry_of(100)).empty());
  EXPECT_EQ(store->trials_of(entry_of(101)).size(), 20u);
  EXPECT_LT(store->list().size(), 5u);
  EXPECT_GT(store->list().size(), 1u);
}

TEST_F(BoundTest, what_was_made_for_its_own_sake_outlives_losers_and_tunings_that_were_given_up) {
  {
    const auto store = open_at(path_);
    ASSERT_TRUE(store->put_binary(binary_of("asked for", 100000), true));
    ASSERT_TRUE(store->put_binary(binary_of("loser", 100000), false));
    put_unfinished(*store, 100, 1764583100);
    RawDatabase(path_).run("UPDATE binary_v1 SET last_used = last_used - 1000 WHERE code = 'asked for'");
    put_winner(*store, 0);
  }
  put_winner(*open_bounded(410000), 1);
  const auto store = open_at(path_);
  EXPECT_TRUE(store->find_binary("asked for", "").has_value());
  EXPECT_FALSE(store->find_binary("loser", "").has_value());
  EXPECT_TRUE(store->trials_of(entry_of(100)).empty());
  EXPECT_EQ(store->list().size(), 2u);
}

}  // namespace
}  // namespace strop::cache::test
