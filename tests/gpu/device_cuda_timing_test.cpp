// The CUDA device's clock: are its times those of the kernel, without the cost of launching, and does nothing that a
// callback does hang it?

#include <chrono>
#include <iostream>
#include <numeric>
#include <stdexcept>
#include <thread>

#include "strop/error.h"
#include "tests/gpu/device_cuda_fixture.h"

namespace strop::device {
namespace {

using Clock = std::chrono::steady_clock;

class CudaTiming : public CudaDeviceTest {
 protected:
  // Launches a kernel that takes `microseconds`.
  std::function<void(Stream, int)> waiting(double microseconds) {
    if (!device_) return {};
    wait_ = load("wait_long");
    return [this, args = WaitArgs{static_cast<std::int64_t>(microseconds * 1e3)}](Stream stream, int) {
      launch(*wait_, {{1}, {1}}, args, stream);
    };
  }

  std::shared_ptr<LoadedKernel> wait_;
};

TEST_F(CudaTiming, of_a_large_copy_is_between_half_and_all_of_the_memory_s_rate) {
  constexpr std::size_t kBytes = std::size_t{512} << 20;
  const Buffer from(*device_, kBytes);
  const Buffer to(*device_, kBytes);
  device_->fill(from.data(), 1, kBytes);
  const auto kernel = load("copy16");
  const CopyArgs args{from.data(), to.data(), kBytes / 16};
  const auto times = device_->time(
      [&](Stream stream, int) {
        launch(*kernel, {{static_cast<unsigned>(kBytes / 16 / 512)}, {512}}, args, stream);
      },
      {5, 4});
  ASSERT_EQ(times.size(), 5u);
  const auto& facts = device_->facts();
  const double nominal = 2.0 * 1e3 * facts.memory_clock_khz * facts.memory_bus_bits / 8;
  for (const double seconds : times) {
    const double rate = 2.0 * kBytes / seconds;
    std::cout << "copy: " << rate * 1e-12 << " TB/s of " << nominal * 1e-12 << "\n";
    EXPECT_GT(rate, 0.5 * nominal);
    EXPECT_LT(rate, 1.02 * nominal);
  }
}

TEST_F(CudaTiming, is_of_the_kernel_and_counts_every_launch) {
  std::vector<int> seen;
  const auto kernel = load("wait_long");
  const WaitArgs args{200'000};
  const auto times = device_->time(
      [&](Stream stream, int i) {
        seen.push_back(i);
        launch(*kernel, {{1}, {1}}, args, stream);
      },
      {3, 5});
  std::vector<int> all(15);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(seen, all);
  ASSERT_EQ(times.size(), 3u);
  for (const double seconds : times) {
    EXPECT_GT(seconds, 190e-6);
    EXPECT_LT(seconds, 260e-6);
  }
}

TEST_F(CudaTiming, of_short_kernels_leaves_the_cost_of_launching_out) {
  const Buffer buffer(*device_, 64);
  const auto kernel = load("stray");
  const StrayArgs args{at<std::int32_t>(buffer)};
  const auto slow_launch = [&](Stream stream, int) {
    const auto until = Clock::now() + std::chrono::microseconds(50);
    while (Clock::now() < until) {
    }
    launch(*kernel, {{1}, {1}}, args, stream);
  };
  const auto times = device_->time(slow_launch, {5, 20});
  for (const double seconds : times) {
    std::cout << "empty kernel: " << seconds * 1e6 << " us\n";
    EXPECT_GT(seconds, 0.2e-6);
    EXPECT_LT(seconds, 20e-6) << "the 50 us between launches are in the time";
  }
}

TEST_F(CudaTiming, takes_the_largest_queue_that_is_promised) {
  const Buffer buffer(*device_, 64);
  const auto kernel = load("stray");
  const StrayArgs args{at<std::int32_t>(buffer)};
  int calls = 0;
  const auto times = device_->time(
      [&](Stream stream, int) {
        ++calls;
        launch(*kernel, {{1}, {1}}, args, stream);
      },
      {32, 16});
  EXPECT_EQ(times.size(), 32u);
  EXPECT_EQ(calls, 512) << "more means that the queue was full and the hold was let go";
}

TEST_F(CudaTiming, passes_an_exception_on_and_goes_on) {
  const auto launch_one = waiting(10);
  EXPECT_THROW(device_->time(
                   [&](Stream stream, int i) {
                     if (i == 7) throw std::runtime_error("planted");
                     launch_one(stream, i);
                   },
                   {4, 4}),
               std::runtime_error);
  EXPECT_EQ(device_->time(launch_one, {2, 2}).size(), 2u);
  expect_usable();
}

TEST_F(CudaTiming, passes_a_refused_launch_on_and_goes_on) {
  const auto kernel = load("stray");
  EXPECT_THROW(device_->time(
                   [&](Stream stream, int) {
                     launch(*kernel, {{1}, {4096}}, StrayArgs{nullptr}, stream);
                   },
                   {2, 2}),
               CudaError);
  EXPECT_EQ(device_->time(waiting(10), {2, 2}).size(), 2u);
}

TEST_F(CudaTiming, of_a_callback_that_waits_for_the_device_does_not_hang) {
  const auto launch_one = waiting(20);
  const auto begin = Clock::now();
  const auto times = device_->time(
      [&](Stream stream, int i) {
        launch_one(stream, i);
        if (i == 3) device_->synchronize(stream);
      },
      {2, 4});
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(5));
  ASSERT_EQ(times.size(), 2u);
  for (const double seconds : times) EXPECT_GT(seconds, 18e-6);
}

TEST_F(CudaTiming, and_another_thread_that_frees_memory_do_not_hang_each_other) {
  const auto launch_one = waiting(20);
  std::atomic<bool> stop{false};
  std::thread other([&] {
    while (!stop) const Buffer buffer(*device_, 1 << 20);
  });
  const auto begin = Clock::now();
  for (int i = 0; i < 5; ++i) EXPECT_EQ(device_->time(launch_one, {4, 8}).size(), 4u);
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(10));
  stop = true;
  other.join();
}

TEST_F(CudaTiming, of_two_threads_at_once_takes_turns) {
  const auto launch_one = waiting(100);
  std::vector<std::thread> threads;
  std::vector<std::vector<double>> times(4);
  for (auto& mine : times) threads.emplace_back([&, this] { mine = device_->time(launch_one, {3, 10}); });
  for (auto& thread : threads) thread.join();
  for (const auto& mine : times) {
    for (const double seconds : mine) EXPECT_LT(seconds, 130e-6) << "another thread's kernels ran in between";
  }
}

TEST_F(CudaTiming, costs_little) {
  const auto launch_one = waiting(1);
  device_->time(launch_one, {1, 1});
  const auto begin = Clock::now();
  constexpr int kRuns = 50;
  for (int i = 0; i < kRuns; ++i) device_->time(launch_one, {1, 1});
  const double microseconds = std::chrono::duration<double, std::micro>(Clock::now() - begin).count() / kRuns;
  std::cout << "a timed run of one launch costs " << microseconds << " us\n";
  EXPECT_LT(microseconds, 2000);
}

TEST_F(CudaTiming, of_a_kernel_that_outlasts_the_limit_is_an_error_after_which_nothing_waits) {
  device_.reset();
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto outlast = [this] {
    device_ = open_cuda(0);
    bool good = true;
    Clock::time_point begin;
    {
      const auto kernel = load("wait_long");
      const Buffer buffer(*device_, 64 << 20);
      device_->synchronize_within(nullptr, 10);  // nothing runs
      begin = Clock::now();
      launch(*kernel, {{1}, {1}}, WaitArgs{3'000'000'000});
      for (int i = 0; i < 2; ++i) {
        try {
          device_->synchronize_within(nullptr, 0.2);
          good = false;
        } catch (const CudaError& error) {
          std::cerr << error.what() << '\n';
          good = good && error.sticky();
        }
      }
    }  // frees and unloads: with the driver that would take until the kernel ends
    device_.reset();
    std::_Exit(good && Clock::now() - begin < std::chrono::milliseconds(2000) ? 0 : 1);
  };
  EXPECT_EXIT(outlast(), testing::ExitedWithCode(0), "did not end within 0.2 s");
}

TEST_F(CudaTiming, refuses_an_empty_plan) { EXPECT_THROW(device_->time(waiting(1), {0, 1}), Error); }

TEST_F(CudaTiming, says_whether_the_clocks_were_held_down_where_that_is_known) {
  const auto held_down = device_->throttled();
  if (!held_down) GTEST_SKIP() << "no NVML here";
  std::cout << "clocks held down: " << *held_down << "\n";
  EXPECT_TRUE(device_->throttled().has_value());
}

}  // namespace
}  // namespace strop::device
