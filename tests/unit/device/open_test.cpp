// Which device does a name open? Without a GPU: the driver library is chosen by the test, in a process of its own.

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

#include "src/base/log.h"
#include "src/base/settings.h"
#include "src/device/device.h"
#include "strop/error.h"

namespace strop::device {
namespace {

using testing::ExitedWithCode;

void warn_on_stderr(std::string_view level, std::string_view line, void*) {
  std::cerr << level << ": " << line << '\n';
}

// Opens `name` with this driver library, and tells what came of it.
[[noreturn]] void open_and_exit(const std::string& name, const std::string& libcuda,
                                const std::string& device_setting = "") {
  setenv("STROP_LIBCUDA", libcuda.c_str(), 1);
  setenv("STROP_DEVICE", device_setting.c_str(), 1);
  settings::reload();
  log::set_sink(warn_on_stderr, nullptr);
  try {
    const auto device = open(name);
    std::cerr << "opened " << (device->facts().kind == DeviceKind::host ? "host" : "cuda") << '\n';
    std::exit(0);
  } catch (const Error& error) {
    std::cerr << "refused: " << error.what() << '\n';
    std::exit(1);
  }
}

const std::string kNone = "/nonexistent/libcuda.so.1";

class OpenDevice : public testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(OpenDevice, auto_is_the_host_where_there_is_no_cuda) {
  EXPECT_EXIT(open_and_exit("auto", kNone), ExitedWithCode(0), "opened host");
}

TEST_F(OpenDevice, auto_follows_the_setting) {
  EXPECT_EXIT(open_and_exit("auto", kNone, "host"), ExitedWithCode(0), "opened host");
  EXPECT_EXIT(open_and_exit("auto", kNone, "cuda"), ExitedWithCode(1), "refused: .*/nonexistent/libcuda.so.1");
}

TEST_F(OpenDevice, auto_warns_of_a_gpu_whose_driver_is_too_old) {
  EXPECT_EXIT(open_and_exit("auto", FAKE_OLD), ExitedWithCode(0),
              "warn.*using the host device: .*needs 12.0(.|\n)*opened host");
}

TEST_F(OpenDevice, host_never_asks_for_a_driver) {
  EXPECT_EXIT(open_and_exit("host", FAKE_OLD), ExitedWithCode(0), "opened host");
}

TEST_F(OpenDevice, cuda_says_why_there_is_none) {
  EXPECT_EXIT(open_and_exit("cuda", kNone), ExitedWithCode(1),
              "refused: .*/nonexistent/libcuda.so.1.*correct or unset it");
  EXPECT_EXIT(open_and_exit("cuda:0", kNone), ExitedWithCode(1), "refused: .*/nonexistent/libcuda.so.1");
}

TEST_F(OpenDevice, an_ordinal_beyond_the_visible_devices_is_refused_with_their_number) {
  EXPECT_EXIT(open_and_exit("cuda:3", FAKE_OK), ExitedWithCode(1), "no CUDA device 3: 1 visible");
}

TEST(OpenDeviceName, other_words_are_refused_and_the_choices_named) {
  for (const char* name : {"", "gpu", "CUDA", "cuda:", "cuda:x", "cuda:-1", "cuda:1x", "cuda:99999999999", "host:0"}) {
    try {
      open(name);
      ADD_FAILURE() << "opened '" << name << "'";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("choose auto, cuda, cuda:N"), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace strop::device
