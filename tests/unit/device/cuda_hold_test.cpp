// A held stream is let go in every case: the word that it waits for, without the stream.

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <cstdlib>
#include <stdexcept>
#include <thread>

#include "src/device/cuda/hold.h"

namespace strop::device::cuda {
namespace {

using namespace std::chrono_literals;

std::uint32_t value_of(std::uint32_t& word) { return std::atomic_ref(word).load(std::memory_order_acquire); }

TEST(Hold, keeps_until_it_lets_go) {
  std::uint32_t word = 6;
  Hold hold(&word, 7, 1h);
  EXPECT_TRUE(hold.watched());
  std::this_thread::sleep_for(5ms);
  EXPECT_EQ(value_of(word), 6u);
  EXPECT_TRUE(hold.let_go());
  EXPECT_EQ(value_of(word), 7u);
  EXPECT_TRUE(hold.let_go()) << "asked twice";
}

TEST(Hold, lets_go_when_an_exception_ends_its_scope) {
  std::uint32_t word = 0;
  try {
    const Hold hold(&word, 1, 1h);
    throw std::runtime_error("planted");
  } catch (const std::runtime_error&) {
  }
  EXPECT_EQ(value_of(word), 1u);
}

TEST(Hold, lets_go_by_itself_after_the_limit_and_says_so) {
  std::uint32_t word = 0;
  Hold hold(&word, 1, 20ms);
  const auto deadline = std::chrono::steady_clock::now() + 10s;
  while (value_of(word) == 0 && std::chrono::steady_clock::now() < deadline) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(value_of(word), 1u) << "what waits would wait for ever";
  EXPECT_FALSE(hold.let_go());
}

TEST(HoldDeathTest, holds_nothing_where_no_thread_can_be_started) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer needs the memory that is taken away here";
#endif
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto without_memory_for_stacks = [] {
    const rlimit none{1, 1};
    if (setrlimit(RLIMIT_AS, &none) != 0) std::_Exit(2);
    std::uint32_t word = 6;
    Hold hold(&word, 7, 1h);
    std::_Exit(!hold.watched() && value_of(word) == 7u && !hold.let_go() ? 0 : 1);
  };
  EXPECT_EXIT(without_memory_for_stacks(), testing::ExitedWithCode(0), "");
}

TEST(Hold, is_cheap_enough_to_make_for_each_timed_run) {
  std::uint32_t word = 0;
  const auto begin = std::chrono::steady_clock::now();
  for (std::uint32_t ticket = 1; ticket <= 100; ++ticket) EXPECT_TRUE(Hold(&word, ticket, 1h).let_go());
  EXPECT_EQ(value_of(word), 100u);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s) << "a hold waits for its watchdog's limit";
}

}  // namespace
}  // namespace strop::device::cuda
