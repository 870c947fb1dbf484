// A kernel that never ends becomes an error, and nothing waits for it afterwards. The driver is a fake one whose kernels never end and
// which ends the process with 66 where a real one would wait for them.

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

#include "src/base/settings.h"
#include "src/device/cuda/handles.h"
#include "src/device/cuda/lost.h"
#include "src/device/cuda/timer.h"
#include "src/device/device.h"
#include "strop/error.h"

namespace strop::device {
namespace {

class CudaLostDeathTest : public testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
  static std::unique_ptr<Device> open_fake() {
    setenv("STROP_LIBCUDA", FAKE_HANGS, 1);
    settings::reload();
    return open_cuda(0);
  }
  // Whether `call` throws that a kernel did not end.
  template <class Call>
  static bool refuses(const Call& call) {
    try {
      call();
    } catch (const CudaError& error) {
      std::cerr << error.what() << '\n';
      return error.sticky() && std::string(error.what()).find("did not end") != std::string::npos;
    }
    return false;
  }
};

TEST_F(CudaLostDeathTest, a_kernel_that_never_ends_is_an_error_and_nothing_waits_for_it) {
  const auto hang = [] {
    bool good = true;
    {
      const auto device = open_fake();
      Buffer buffer(*device, 64);
      const auto kernel = device->load(".version 7.0", "spin", 0);
      device->launch(*kernel, {{1}, {1}}, nullptr, 0, nullptr);
      good &= refuses([&] { device->synchronize_within(nullptr, 0.02); });
      good &= refuses([&] { device->synchronize_within(nullptr, 0.02); });
      good &= refuses([&] { device->synchronize(nullptr); });
      good &= refuses([&] { device->launch(*kernel, {{1}, {1}}, nullptr, 0, nullptr); });
      good &= refuses([&] { device->allocate(64); });
      good &= refuses([&] { device->load(".version 7.0", "spin", 0); });
      good &= refuses([&] { device->fill(buffer.data(), 0, 64); });
      good &= refuses([&] { device->time([](Stream, int) {}, {1, 1}); });
    }  // frees, unloads, closes
    std::exit(good ? 0 : 1);
  };
  EXPECT_EXIT(hang(), testing::ExitedWithCode(0), "did not end within 0.02 s; the device is lost");
}

TEST_F(CudaLostDeathTest, a_timed_run_that_never_ends_is_an_error_too) {
  const auto hang = [] {
    const auto device = open_fake();
    const cuda::PrimaryContext context(0);
    auto* timer = new cuda::Timer(context.get(), std::chrono::milliseconds(20));  // a lost device's is left, as CudaDevice does
    const bool good = refuses([&] { timer->time([](Stream, int) {}, {2, 2}); });
    std::exit(good && cuda::lost(context.get()) ? 0 : 1);
  };
  EXPECT_EXIT(hang(), testing::ExitedWithCode(0), "did not end within 0.02 s");
}

}  // namespace
}  // namespace strop::device
