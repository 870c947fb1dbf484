// What the database could not take at once is served from memory, beside what the database has, and gives way to what is newer.

#include <gtest/gtest.h>

#include <algorithm>
#include <type_traits>

#include "strop/library.h"
#include "tests/support/test_folder.h"
#include "tests/unit/cache/held_lock.h"
#include "tests/unit/cache/samples.h"

namespace strop::cache::test {
namespace {

// Another thread's call may find the database damaged and open another file: a reference would hang.
static_assert(std::is_same_v<decltype(std::declval<const Store&>().path()), std::string>);
static_assert(std::is_same_v<decltype(std::declval<const Library&>().cache_path()), std::string>);

class OverlayTest : public ::testing::Test {
 protected:
  std::unique_ptr<Store> open_impatient() const {
    StoreOptions options;
    options.path = path_;
    options.busy_timeout_ms = 50;
    return Store::open(options);
  }
  static Winner at(Winner winner, std::int64_t tuned_at) {
    winner.tuned_at = winner.revalidated_at = tuned_at;
    return winner;
  }

  strop::test::TestFolder folder_;
  std::string path_ = (folder_.path() / "strop.db").string();
};

TEST_F(OverlayTest, a_winner_kept_in_memory_gives_way_to_the_one_stored_after_it) {
  fill(path_);
  const auto store = open_impatient();
  const auto id = entry_of(50);
  {
    const HeldLock held(path_);
    EXPECT_FALSE(store->put_winner(winner_of(id, "first"), binary_of("first")));
    EXPECT_EQ(store->find_winner(id)->code, "first");
  }
  EXPECT_TRUE(store->put_winner(winner_of(id, "second"), binary_of("second")));
  EXPECT_EQ(store->find_winner(id)->code, "second");
  EXPECT_EQ(open_at(path_)->find_winner(id)->code, "second");
}

TEST_F(OverlayTest, what_is_in_memory_does_not_hide_what_is_in_the_file) {
  fill(path_);
  const auto store = open_impatient();
  const HeldLock held(path_);
  EXPECT_FALSE(store->put_trial(trial_of(entry_of(2), "another", 32)));
  EXPECT_EQ(store->trials_of(entry_of(2)).size(), 2u);
  auto again = trial_of(entry_of(2), "again", 16);
  again.landed_at -= 1;
  EXPECT_FALSE(store->put_trial(again));
  const auto trials = store->trials_of(entry_of(2));
  ASSERT_EQ(trials.size(), 2u) << "one a config";
  EXPECT_EQ(trials[0].code, "again");
  EXPECT_FALSE(store->put_winner(winner_of(entry_of(50), "late"), binary_of("late")));
  EXPECT_FALSE(store->put_winner(winner_of(entry_of(3), "better"), binary_of("better")));
  const auto winners = store->winners_of(entry_of(2));
  EXPECT_EQ(winners.size(), 4u);
  EXPECT_EQ(std::count_if(winners.begin(), winners.end(), [](const Winner& w) { return w.code == "better"; }), 1);
}

TEST_F(OverlayTest, what_another_process_timed_later_is_preferred_to_what_is_in_memory) {
  fill(path_);
  const auto store = open_impatient();
  const HeldLock held(path_);
  EXPECT_FALSE(store->put_winner(at(winner_of(entry_of(2), "mine"), 1764583500), binary_of("mine")));
  EXPECT_EQ(store->find_winner(entry_of(2))->code, "mine");
  RawDatabase(path_).run("UPDATE winner_v1 SET code = 'theirs', revalidated_at = 1764583600 WHERE code = 'code0'");
  EXPECT_EQ(store->find_winner(entry_of(2))->code, "theirs");
  for (const auto& winner : store->winners_of(entry_of(2))) EXPECT_NE(winner.code, "mine");
}

TEST_F(OverlayTest, what_is_removed_is_gone_from_memory_too) {
  fill(path_);
  const auto store = open_impatient();
  const auto id = entry_of(50);
  {
    const HeldLock held(path_);
    EXPECT_FALSE(store->put_winner(winner_of(id, "late"), binary_of("late")));
    EXPECT_FALSE(store->put_trial(trial_of(id, "late", 16)));
    EXPECT_THROW(store->remove({winner_of(id, "late")}), CacheError);
  }
  store->remove({winner_of(id, "late")});
  EXPECT_FALSE(store->find_winner(id).has_value());
  EXPECT_TRUE(store->trials_of(id).empty());
  EXPECT_TRUE(store->find_winner(entry_of(2)).has_value());
  store->put_trial(trial_of(entry_of(51), "other", 16));
  EXPECT_FALSE(open_at(path_)->find_winner(id).has_value());
}

// A trigger stands for whatever makes a write fail without a lock (a full disk): nothing is owed then.
TEST_F(OverlayTest, what_can_never_be_written_stays_in_memory_until_something_newer_is_stored) {
  fill(path_);
  RawDatabase raw(path_);
  raw.run("CREATE TRIGGER refuse BEFORE INSERT ON winner_v1 BEGIN SELECT RAISE(ABORT, 'no'); END");
  const auto store = open_impatient();
  const auto id = entry_of(50);
  EXPECT_FALSE(store->put_winner(winner_of(id, "first"), binary_of("first")));
  EXPECT_TRUE(store->put_trial(trial_of(entry_of(51), "other", 16)));
  EXPECT_EQ(store->find_winner(id)->code, "first");
  raw.run("DROP TRIGGER refuse");
  EXPECT_TRUE(store->put_winner(winner_of(id, "second"), binary_of("second")));
  EXPECT_EQ(store->find_winner(id)->code, "second");
  store->remove({winner_of(id, "second")});
  EXPECT_FALSE(store->find_winner(id).has_value());
}

}  // namespace
}  // namespace strop::cache::test
