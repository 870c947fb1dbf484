// What goes in comes out, and what leaves when.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/test_folder.h"
#include "tests/unit/cache/samples.h"

namespace strop::cache::test {
namespace {

class StoreTest : public ::testing::Test {
 protected:
  strop::test::TestFolder folder_;
  std::string path_ = (folder_.path() / "strop.db").string();
  std::unique_ptr<Store> store_ = open_at(path_);
  void reopen() { store_ = open_at(path_); }
  bool has(const std::string& code) { return store_->find_binary(code, "").has_value(); }
};

TEST_F(StoreTest, a_winner_comes_back_field_by_field_in_the_next_process) {
  const auto put = winner_of(entry_of(4), "aa");
  ASSERT_TRUE(store_->put_winner(put, std::nullopt));
  reopen();
  const auto got = store_->find_winner(entry_of(4));
  ASSERT_TRUE(got.has_value());
  EXPECT_EQ(got->id.key.str(), put.id.key.str());
  EXPECT_EQ(got->id.device_class, put.id.device_class);
  EXPECT_EQ(got->id.template_digest, put.id.template_digest);
  EXPECT_EQ(got->environment, put.environment);
  EXPECT_EQ(got->config, put.config);
  EXPECT_EQ(got->code, put.code);
  EXPECT_EQ(got->time.median_us, put.time.median_us);
  EXPECT_EQ(got->time.spread_us, put.time.spread_us);
  EXPECT_EQ(got->time.min_us, put.time.min_us);
  EXPECT_EQ(got->time.samples, put.time.samples);
  EXPECT_EQ(got->candidates, put.candidates);
  EXPECT_EQ(got->rejected, put.rejected);
  EXPECT_EQ(got->why, put.why);
  EXPECT_EQ(got->flags, put.flags);
  EXPECT_EQ(got->limit_us, put.limit_us);
  EXPECT_EQ(got->tuned_at, put.tuned_at);
  EXPECT_EQ(got->revalidated_at, put.revalidated_at);
  EXPECT_EQ(got->last_used, put.last_used);
}

TEST_F(StoreTest, another_key_device_template_or_kernel_is_a_miss) {
  ASSERT_TRUE(store_->put_winner(winner_of(entry_of(4), "aa"), std::nullopt));
  EXPECT_FALSE(store_->find_winner(entry_of(3)).has_value());
  EXPECT_FALSE(store_->find_winner(entry_of(4, "rms_norm")).has_value());
  auto id = entry_of(4);
  id.device_class += "mig=1g";
  EXPECT_FALSE(store_->find_winner(id).has_value());
  id = entry_of(4);
  id.template_digest[0] = '8';
  EXPECT_FALSE(store_->find_winner(id).has_value());
}

TEST_F(StoreTest, neighbours_share_kernel_device_and_template) {
  for (const int width : {2, 3, 4}) ASSERT_TRUE(store_->put_winner(winner_of(entry_of(width), "aa"), std::nullopt));
  ASSERT_TRUE(store_->put_winner(winner_of(entry_of(4, "rms_norm"), "bb"), std::nullopt));
  EXPECT_EQ(store_->winners_of(entry_of(9)).size(), 3u);
}

TEST_F(StoreTest, a_trial_comes_back_field_by_field_and_replaces_the_one_of_its_config) {
  auto put = trial_of(entry_of(4), "aa", 8);
  put.trial.verdict = Verdict::wrong_result;
  ASSERT_TRUE(store_->put_trial(trial_of(entry_of(4), "old", 8)));
  ASSERT_TRUE(store_->put_trial(put));
  ASSERT_TRUE(store_->put_trial(trial_of(entry_of(4), "bb", 16)));
  reopen();
  const auto got = store_->trials_of(entry_of(4));
  ASSERT_EQ(got.size(), 2u);
  const auto& trial = got[0].trial.config == put.trial.config ? got[0] : got[1];
  EXPECT_EQ(trial.trial.verdict, Verdict::wrong_result);
  EXPECT_EQ(trial.trial.detail, put.trial.detail);
  EXPECT_EQ(trial.trial.time.median_us, put.trial.time.median_us);
  EXPECT_EQ(trial.trial.time.samples, put.trial.time.samples);
  EXPECT_EQ(trial.trial.resources.registers, 64);
  EXPECT_EQ(trial.trial.resources.spill_load_bytes, 8);
  EXPECT_EQ(trial.trial.resources.static_shared, 1024);
  EXPECT_EQ(trial.trial.dynamic_shared, 2048);
  EXPECT_EQ(trial.trial.compile_ms, 210.5);
  EXPECT_EQ(trial.code, "aa");
  EXPECT_EQ(trial.landed_at, put.landed_at);
  EXPECT_EQ(trial.environment, put.environment);
}

TEST_F(StoreTest, a_binary_comes_back_byte_by_byte_zeros_included) {
  const auto put = binary_of("aa", 100000);
  ASSERT_TRUE(store_->put_binary(put, true));
  reopen();
  const auto got = store_->find_binary("aa", "");
  ASSERT_TRUE(got.has_value());
  EXPECT_EQ(got->bytes, put.bytes);
  EXPECT_EQ(got->compiler, put.compiler);
  EXPECT_EQ(got->target, put.target);
  EXPECT_EQ(got->kernel, put.kernel);
  EXPECT_EQ(got->entry, put.entry);
  EXPECT_EQ(got->ingredients, put.ingredients);
  EXPECT_EQ(got->resources.registers, 64);
  EXPECT_EQ(got->created_at, put.created_at);
}

TEST_F(StoreTest, of_two_compilers_binaries_the_preferred_one_is_given_and_any_one_otherwise) {
  auto older = binary_of("aa");
  older.compiler = "nvrtc 12.2";
  older.bytes = "from 12.2";
  ASSERT_TRUE(store_->put_binary(older, true));
  EXPECT_EQ(store_->find_binary("aa", "nvrtc 13.0")->bytes, "from 12.2");
  ASSERT_TRUE(store_->put_binary(binary_of("aa"), true));
  EXPECT_EQ(store_->find_binary("aa", "nvrtc 12.2")->bytes, "from 12.2");
  EXPECT_EQ(store_->find_binary("aa", binary_of("aa").compiler)->bytes, binary_of("aa").bytes);
}

TEST_F(StoreTest, a_winner_drops_the_losers_binaries_but_not_other_winners_or_kept_ones) {
  const auto id = entry_of(4);
  ASSERT_TRUE(store_->put_winner(winner_of(entry_of(3), "shared"), binary_of("shared")));
  ASSERT_TRUE(store_->put_binary(binary_of("kept"), true));
  // A loser's binary gets into the table as a first winner of the same key.
  ASSERT_TRUE(store_->put_winner(winner_of(id, "loser"), binary_of("loser")));
  for (const char* code : {"shared", "kept", "loser", "best"}) ASSERT_TRUE(store_->put_trial(trial_of(id, code, code[0])));
  ASSERT_TRUE(has("loser"));
  ASSERT_TRUE(store_->put_winner(winner_of(id, "best"), binary_of("best")));
  EXPECT_FALSE(has("loser"));
  EXPECT_TRUE(has("best"));
  EXPECT_TRUE(has("shared"));
  EXPECT_TRUE(has("kept"));
  EXPECT_EQ(store_->find_winner(id)->code, "best");
  EXPECT_EQ(store_->list().size(), 2u);
}

TEST_F(StoreTest, removing_takes_the_winner_its_trials_and_its_binary_and_nothing_else) {
  for (const int width : {3, 4}) {
    const auto code = fmt::format("code{}", width);
    ASSERT_TRUE(store_->put_trial(trial_of(entry_of(width), code, 16)));
    ASSERT_TRUE(store_->put_winner(winner_of(entry_of(width), code), binary_of(code)));
  }
  ASSERT_TRUE(store_->put_winner(winner_of(entry_of(5), "code4"), std::nullopt));  // shares the binary of 4
  Filter filter;
  filter.key = "W=4";
  EXPECT_EQ(store_->remove(store_->list(filter)).size(), 1u);
  EXPECT_FALSE(store_->find_winner(entry_of(4)).has_value());
  EXPECT_TRUE(store_->trials_of(entry_of(4)).empty());
  EXPECT_TRUE(has("code4"));
  filter.key = "W=5";
  store_->remove(store_->list(filter));
  EXPECT_FALSE(has("code4"));
  EXPECT_TRUE(store_->find_winner(entry_of(3)).has_value());
  EXPECT_EQ(store_->trials_of(entry_of(3)).size(), 1u);
  EXPECT_TRUE(has("code3"));
  EXPECT_TRUE(store_->verify(false).empty());
}

TEST_F(StoreTest, pruning_removes_what_nothing_refers_to_and_shrinks_the_file) {
  for (int i = 0; i < 20; ++i) {
    const auto code = fmt::format("code{}", i);
    ASSERT_TRUE(store_->put_winner(winner_of(entry_of(i), code), binary_of(code, 100000)));
  }
  auto all = store_->list();
  all.pop_back();
  store_->remove(all);
  const auto before = std::filesystem::file_size(path_) + std::filesystem::file_size(path_ + "-wal");
  const auto freed = store_->prune(0);
  const auto after = std::filesystem::file_size(path_);
  EXPECT_GT(freed, 1500000u);
  EXPECT_LT(after, before - 1500000);
  EXPECT_EQ(store_->list().size(), 1u);
  EXPECT_TRUE(store_->verify(false).empty());
}

TEST_F(StoreTest, a_tuning_that_was_cut_off_keeps_its_trials_through_a_prune) {
  ASSERT_TRUE(store_->put_trial(trial_of(entry_of(4), "aa", 16)));
  store_->prune(0);
  EXPECT_EQ(store_->trials_of(entry_of(4)).size(), 1u);
}

TEST_F(StoreTest, the_size_bound_evicts_what_was_used_longest_ago) {
  StoreOptions options;
  options.path = path_;
  options.max_bytes = 600000;
  store_ = Store::open(options);
  for (int i = 0; i < 10; ++i) {
    auto winner = winner_of(entry_of(i), fmt::format("code{}", i));
    winner.last_used = 1764583400 + (i == 0 ? 1000 : i);  // the first was used last
    ASSERT_TRUE(store_->put_winner(winner, binary_of(winner.code, 100000)));
  }
  EXPECT_TRUE(store_->find_winner(entry_of(0)).has_value());
  EXPECT_FALSE(store_->find_winner(entry_of(1)).has_value());
  EXPECT_TRUE(store_->find_winner(entry_of(9)).has_value());
  EXPECT_LE(store_->stats().binary_bytes, 600000u);
  EXPECT_GE(store_->stats().binary_bytes, 300000u);
}

TEST_F(StoreTest, a_winner_just_tuned_and_never_used_is_not_the_first_to_be_evicted) {
  StoreOptions options;
  options.path = path_;
  options.max_bytes = 300000;
  store_ = Store::open(options);
  for (int i = 0; i < 6; ++i) {
    auto winner = winner_of(entry_of(i), fmt::format("code{}", i));
    winner.tuned_at += 10000 * i;
    winner.last_used = i == 5 ? 0 : winner.tuned_at;
    ASSERT_TRUE(store_->put_winner(winner, binary_of(winner.code, 100000)));
  }
  EXPECT_TRUE(store_->find_winner(entry_of(5)).has_value());
  EXPECT_FALSE(store_->find_winner(entry_of(0)).has_value());
}

TEST_F(StoreTest, tunings_without_a_winner_are_listed_apart_and_removed_like_entries) {
  fill(path_, 2);
  auto wrong = trial_of(entry_of(70), "a", 16);
  wrong.trial.verdict = Verdict::wrong_result;
  ASSERT_TRUE(store_->put_trial(wrong));
  ASSERT_TRUE(store_->put_trial(trial_of(entry_of(70), "b", 32)));
  EXPECT_EQ(store_->list().size(), 2u);
  const auto unfinished = store_->unfinished();
  ASSERT_EQ(unfinished.size(), 1u);
  EXPECT_EQ(unfinished[0].id.key, entry_of(70).key);
  EXPECT_EQ(unfinished[0].candidates, 2);
  EXPECT_EQ(unfinished[0].rejected, 1);
  EXPECT_EQ(unfinished[0].tuned_at, wrong.landed_at);
  EXPECT_EQ(unfinished[0].environment.driver, environment_of().driver);
  Filter other;
  other.kernel = "no such kernel";
  EXPECT_TRUE(store_->unfinished(other).empty());
  EXPECT_EQ(store_->remove(unfinished).size(), 1u);
  EXPECT_TRUE(store_->unfinished().empty());
  EXPECT_TRUE(store_->trials_of(entry_of(70)).empty());
  EXPECT_EQ(store_->list().size(), 2u);
}

TEST_F(StoreTest, the_size_bound_lets_go_of_unfinished_tunings_before_winners) {
  for (int i = 0; i < 300; ++i) {
    auto trial = trial_of(entry_of(1000 + i), "x", 16);
    trial.trial.detail = std::string(4000, 'd');
    ASSERT_TRUE(store_->put_trial(trial));
  }
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(store_->put_winner(winner_of(entry_of(i), fmt::format("code{}", i)), binary_of(fmt::format("code{}", i))));
  StoreOptions bounded;
  bounded.path = path_;
  bounded.max_bytes = 600'000;
  ASSERT_TRUE(Store::open(bounded)->put_winner(winner_of(entry_of(2), "code2"), binary_of("code2")));
  EXPECT_EQ(store_->list().size(), 3u);
  EXPECT_LT(store_->unfinished().size(), 300u);
}

TEST_F(StoreTest, a_use_is_noted_for_the_winner_and_its_binary) {
  ASSERT_TRUE(store_->put_winner(winner_of(entry_of(4), "aa"), binary_of("aa")));
  RawDatabase(path_).run("UPDATE binary_v1 SET last_used = 5");
  store_->touch(entry_of(4));
  EXPECT_GT(store_->find_winner(entry_of(4))->last_used, 1764583400);
  EXPECT_GT(store_->find_binary("aa", "")->last_used, 1764583400);
  store_->touch(entry_of(5));  // of nothing: nothing
}

TEST_F(StoreTest, the_figures_count_rows_and_bytes) {
  fill(path_, 3);
  const auto stats = store_->stats();
  EXPECT_EQ(stats.path, path_);
  EXPECT_EQ(stats.winners, 3);
  EXPECT_EQ(stats.trials, 3);
  EXPECT_EQ(stats.binaries, 3);
  EXPECT_EQ(stats.environments, 1);
  EXPECT_EQ(stats.binary_bytes, 27000u);
  EXPECT_EQ(stats.format, 1);
  EXPECT_EQ(store_->binaries().size(), 3u);
}

}  // namespace
}  // namespace strop::cache::test
