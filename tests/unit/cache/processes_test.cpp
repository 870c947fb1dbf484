// Many processes at one database, and processes that are killed.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <random>
#include <thread>

#include "cache/write_lock.h"
#include "tests/support/test_folder.h"
#include "tests/unit/cache/child.h"
#include "tests/unit/cache/held_lock.h"
#include "tests/unit/cache/samples.h"

namespace strop::cache::test {
namespace {

class ProcessesTest : public ::testing::Test {
 protected:
  strop::test::TestFolder folder_;
  std::string path_ = (folder_.path() / "strop.db").string();
};

// Each opens the database that none has made yet, and stores and reads the same keys.
TEST_F(ProcessesTest, eight_storing_the_same_keys_leave_one_row_a_key) {
  constexpr int kProcesses = 8, kKeys = 10;
  const auto work = [&](int who) {
    Warnings warnings;
    const auto store = open_at(path_);
    for (int i = 0; i < kKeys; ++i) {
      const auto id = entry_of(i);
      const auto code = fmt::format("code{}", i);
      EXPECT_TRUE(store->put_trial(trial_of(id, code, 16)));
      auto winner = winner_of(id, code);
      winner.candidates = who;
      EXPECT_TRUE(store->put_winner(winner, binary_of(code)));
      EXPECT_TRUE(store->find_winner(id).has_value());
      EXPECT_TRUE(store->find_binary(code, "").has_value());
      store->touch(id);
    }
    EXPECT_EQ(store->path(), path_);
    EXPECT_EQ(warnings.count(), 0u) << warnings.text();
    return ::testing::Test::HasFailure() ? 1 : 0;
  };
  std::vector<pid_t> children;
  for (int who = 0; who < kProcesses; ++who) children.push_back(start([&, who] { return work(who); }));
  for (const auto child : children) EXPECT_EQ(finish(child), 0);
  EXPECT_TRUE(open_at(path_)->verify(false).empty());
  RawDatabase raw(path_);
  EXPECT_EQ(raw.rows("SELECT (SELECT count(*) FROM entry_v1), (SELECT count(*) FROM winner_v1), (SELECT count(*) FROM trial_v1), "
                     "(SELECT count(*) FROM binary_v1), (SELECT count(*) FROM environment_v1)"),
            "10|10|10|10|1\n");
  EXPECT_EQ(raw.rows("PRAGMA integrity_check"), "ok\n");
}

TEST_F(ProcessesTest, several_finding_a_damaged_database_set_it_aside_once) {
  write_file(path_, std::string(9000, 'd'));
  std::vector<pid_t> children;
  for (int who = 0; who < 6; ++who)
    children.push_back(start([&, who] {
      const auto store = open_at(path_);
      const auto code = fmt::format("code{}", who);
      return store->put_winner(winner_of(entry_of(who), code), binary_of(code)) ? 0 : 1;
    }));
  for (const auto child : children) EXPECT_EQ(finish(child), 0);
  EXPECT_EQ(set_aside_of(path_).size(), 1u);
  EXPECT_EQ(open_at(path_)->list().size(), 6u);
}

// Reports each winner through the pipe after it was stored: those must be there whenever the writer is killed.
TEST_F(ProcessesTest, thirty_killed_writers_lose_nothing_they_had_stored) {
  std::mt19937 random(20261201);
  std::uniform_int_distribution<int> moment_us(500, 40000);
  for (int round = 0; round < 30; ++round) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const auto child = start([&] {
      const auto store = open_at(path_);
      for (int i = 0;; ++i) {
        const auto code = fmt::format("code{}", i);
        if (!store->put_trial(trial_of(entry_of(i), code, 16))) return 1;
        if (!store->put_winner(winner_of(entry_of(i), code), binary_of(code, 20000))) return 1;
        if (write(ends[1], "x", 1) != 1) return 2;
        if (i % 7 == 6) store->prune(0);
      }
    });
    close(ends[1]);
    std::this_thread::sleep_for(std::chrono::microseconds(moment_us(random)));
    kill(child, SIGKILL);
    EXPECT_EQ(finish(child), -SIGKILL);
    char byte = 0;
    int stored = 0;
    while (read(ends[0], &byte, 1) == 1) ++stored;
    close(ends[0]);
    Warnings warnings;
    const auto store = open_at(path_);
    for (const auto& damage : store->verify(false)) ADD_FAILURE() << "round " << round << ": " << damage.what;
    for (int i = 0; i < stored; ++i) {
      ASSERT_TRUE(store->find_winner(entry_of(i)).has_value()) << i << " of " << stored;
      ASSERT_TRUE(store->find_binary(fmt::format("code{}", i), "").has_value()) << i << " of " << stored;
    }
    EXPECT_EQ(warnings.count(), 0u) << warnings.text();
  }
}

TEST_F(ProcessesTest, a_lock_held_by_another_costs_one_warning_and_the_result_stays_in_memory) {
  fill(path_);
  StoreOptions options;
  options.path = path_;
  options.busy_timeout_ms = 100;
  const auto store = Store::open(options);
  auto held = std::make_unique<HeldLock>(path_);
  Warnings warnings;
  EXPECT_FALSE(store->put_winner(winner_of(entry_of(50), "late"), binary_of("late")));
  EXPECT_FALSE(store->put_trial(trial_of(entry_of(50), "late", 16)));
  EXPECT_TRUE(store->find_winner(entry_of(50)).has_value());
  EXPECT_TRUE(store->find_winner(entry_of(2)).has_value());
  EXPECT_EQ(warnings.count(), 1u) << warnings.text();
  held.reset();
  EXPECT_TRUE(store->put_winner(winner_of(entry_of(51), "later"), binary_of("later")));
  EXPECT_EQ(open_at(path_)->list().size(), 5u) << "what was owed is written too";
}

// Each of a warmup's hundred writes waiting out the whole timeout would be minutes.
TEST_F(ProcessesTest, a_lock_held_all_along_costs_the_timeout_once_and_what_is_owed_is_written_later) {
  fill(path_);
  StoreOptions options;
  options.path = path_;
  options.busy_timeout_ms = 2000;
  const auto store = Store::open(options);
  auto held = std::make_unique<HeldLock>(path_);
  Warnings warnings;
  constexpr int kWrites = 40;
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < kWrites; ++i) EXPECT_FALSE(store->put_trial(trial_of(entry_of(50 + i), "late", 16)));
  EXPECT_FALSE(store->put_winner(winner_of(entry_of(50), "late"), binary_of("late")));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(kWrites * 2 / 4));
  EXPECT_EQ(warnings.count(), 1u) << warnings.text();
  EXPECT_EQ(store->trials_of(entry_of(53)).size(), 1u);
  EXPECT_EQ(RawDatabase(path_).rows("SELECT count(*) FROM trial_v1"), "3\n");
  held.reset();
  EXPECT_TRUE(store->put_trial(trial_of(entry_of(99), "later", 16)));
  EXPECT_EQ(RawDatabase(path_).rows("SELECT count(*) FROM trial_v1"), std::to_string(3 + kWrites + 1) + "\n");
  EXPECT_TRUE(open_at(path_)->find_winner(entry_of(50)).has_value());
}

TEST_F(ProcessesTest, what_is_owed_is_written_when_the_store_is_closed_or_said_to_be_lost) {
  fill(path_);
  StoreOptions options;
  options.path = path_;
  options.busy_timeout_ms = 100;
  for (const bool let_go : {true, false}) {
    auto store = Store::open(options);
    auto held = std::make_unique<HeldLock>(path_);
    const auto id = entry_of(let_go ? 60 : 61);
    EXPECT_FALSE(store->put_trial(trial_of(id, "late", 16)));
    if (let_go) held.reset();
    Warnings warnings;
    store.reset();
    EXPECT_EQ(warnings.count(), let_go ? 0u : 1u) << warnings.text();
    held.reset();
    EXPECT_EQ(open_at(path_)->trials_of(id).size(), let_go ? 1u : 0u);
  }
}

TEST_F(ProcessesTest, a_child_forked_while_the_lock_was_held_does_not_keep_it) {
  pid_t child = 0;
  {
    const WriteLock lock(path_, 1000);
    child = start([] {
      std::this_thread::sleep_for(std::chrono::seconds(5));
      return 0;
    });
  }
  EXPECT_NO_THROW(WriteLock(path_, 200));
  kill(child, SIGKILL);
  finish(child);
}

TEST_F(ProcessesTest, another_programs_transaction_is_waited_for) {
  fill(path_);
  const auto child = start([&] {
    RawDatabase raw(path_);
    raw.run("BEGIN IMMEDIATE; UPDATE winner_v1 SET candidates = 9");
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    raw.run("COMMIT");
    return 0;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  Warnings warnings;
  EXPECT_TRUE(open_at(path_)->put_winner(winner_of(entry_of(50), "late"), binary_of("late")));
  EXPECT_EQ(warnings.count(), 0u) << warnings.text();
  EXPECT_EQ(finish(child), 0);
}

}  // namespace
}  // namespace strop::cache::test
