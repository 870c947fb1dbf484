// Why is there no CUDA here? A process opens the driver once, so each case asks in a process of its own.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "src/base/settings.h"
#include "src/device/device.h"
#include "strop/error.h"

namespace strop::device {
namespace {

using testing::ExitedWithCode;

void choose(const std::string& library) {
  setenv("STROP_LIBCUDA", library.c_str(), 1);
  settings::reload();
}

std::string described(const CudaProbe& probe) {
  return "status=" + std::to_string(static_cast<int>(probe.status)) + " api=" + std::to_string(probe.driver_api) +
         " devices=" + std::to_string(probe.devices) + " rule=" + probe.rule + " library=" + probe.library +
         " reason=" + probe.reason;
}

[[noreturn]] void probe_and_exit(const std::string& library) {
  choose(library);
  const CudaProbe probe = probe_cuda();
  std::cerr << described(probe) << '\n';
  std::exit(static_cast<int>(probe.status));
}

auto exits_with(CudaStatus status) { return ExitedWithCode(static_cast<int>(status)); }

class CudaProbeOf : public testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(CudaProbeOf, a_path_that_does_not_exist_is_no_library_and_names_the_setting) {
  EXPECT_EXIT(probe_and_exit("/nonexistent/libcuda.so.1"), exits_with(CudaStatus::no_library),
              "STROP_LIBCUDA .*/nonexistent/libcuda.so.1.*correct or unset it");
}

TEST_F(CudaProbeOf, a_text_file_is_no_library) {
  const std::string file = testing::TempDir() + "text_that_is_no_libcuda.so";
  std::ofstream(file) << "not a library\n";
  EXPECT_EXIT(probe_and_exit(file), exits_with(CudaStatus::no_library),
              "text_that_is_no_libcuda.so.*correct or unset it");
  std::filesystem::remove(file);
}

TEST_F(CudaProbeOf, a_folder_without_the_driver_is_no_library) {
  EXPECT_EXIT(probe_and_exit(testing::TempDir()), exits_with(CudaStatus::no_library),
              "libcuda.so.1.*correct or unset it");
}

TEST_F(CudaProbeOf, some_other_library_is_told_from_a_driver) {
  EXPECT_EXIT(probe_and_exit("libm.so.6"), exits_with(CudaStatus::failed), "not a CUDA driver library");
}

TEST_F(CudaProbeOf, the_toolkit_s_stub_is_no_driver_and_is_explained) {
  std::string stub;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const auto home = settings::foreign(variable); home && stub.empty()) stub = *home + "/lib64/stubs/libcuda.so";
  }
  if (!std::filesystem::exists(stub)) stub = "/usr/local/cuda/lib64/stubs/libcuda.so";
  if (!std::filesystem::exists(stub)) GTEST_SKIP() << "no CUDA toolkit here, so no stub";
  EXPECT_EXIT(probe_and_exit(stub), exits_with(CudaStatus::stub),
              "library=/.*stubs/libcuda.so .*stub, made for linking only");
}

TEST_F(CudaProbeOf, a_driver_before_cuda_12_is_too_old_and_says_have_and_need) {
  EXPECT_EXIT(probe_and_exit(FAKE_OLD), exits_with(CudaStatus::too_old), "knows CUDA 11.4 .*needs 12.0 or newer");
}

TEST_F(CudaProbeOf, a_function_whose_version_is_not_sufficient_means_too_old_and_is_named) {
  EXPECT_EXIT(probe_and_exit(FAKE_INSUFFICIENT), exits_with(CudaStatus::too_old),
              "its cuLaunchKernelEx is older than CUDA 11.6's");
}

TEST_F(CudaProbeOf, a_function_that_is_not_found_in_a_new_driver_is_a_fault_and_is_named) {
  EXPECT_EXIT(probe_and_exit(FAKE_NOT_FOUND), exits_with(CudaStatus::failed),
              "says CUDA 13.0 but lacks cuLaunchKernelEx");
}

TEST_F(CudaProbeOf, an_optional_function_may_be_missing) {
  EXPECT_EXIT(probe_and_exit(FAKE_NO_FUNC_LOAD), exits_with(CudaStatus::ok),
              "api=13000 devices=1 rule=setting STROP_LIBCUDA");
}

TEST_F(CudaProbeOf, a_driver_that_answers_no_device_is_no_device) {
  EXPECT_EXIT(probe_and_exit(FAKE_NO_DEVICE), exits_with(CudaStatus::no_device), "sees no GPU");
}

TEST_F(CudaProbeOf, a_driver_that_counts_zero_devices_is_no_device_and_tells_what_hides_them) {
  setenv("CUDA_VISIBLE_DEVICES", "7", 1);
  EXPECT_EXIT(probe_and_exit(FAKE_ZERO), exits_with(CudaStatus::no_device), "CUDA_VISIBLE_DEVICES is '7'");
  unsetenv("CUDA_VISIBLE_DEVICES");
}

TEST_F(CudaProbeOf, a_driver_whose_kernel_module_differs_failed_and_says_what_to_do) {
  EXPECT_EXIT(probe_and_exit(FAKE_MISMATCH), exits_with(CudaStatus::failed),
              "cuInit answered 803 \\(CUDA_ERROR_OF_THE_FAKE\\).*reboot");
}

TEST_F(CudaProbeOf, a_fork_s_child_is_refused_with_a_sentence) {
  const auto fork_after_probe = [] {
    choose(FAKE_OK);
    if (probe_cuda().status != CudaStatus::ok) std::exit(101);
    const pid_t child = fork();
    if (child == 0) {
      std::cerr << described(probe_cuda()) << '\n';
      try {
        open_cuda(0);
      } catch (const Error& error) {
        std::cerr << "open: " << error.what() << '\n';
        std::exit(static_cast<int>(probe_cuda().status));
      }
      std::exit(102);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (probe_cuda().status != CudaStatus::ok) std::exit(103);  // the parent goes on
    std::exit(WIFEXITED(status) ? WEXITSTATUS(status) : 104);
  };
  EXPECT_EXIT(fork_after_probe(), exits_with(CudaStatus::failed),
              "open: this process was forked after its parent.*spawn");
}

TEST_F(CudaProbeOf, a_fork_before_the_first_question_does_no_harm) {
  const auto probe_in_child = [] {
    choose(FAKE_OK);
    if (const pid_t child = fork(); child != 0) {
      int status = 0;
      waitpid(child, &status, 0);
      std::exit(WIFEXITED(status) ? WEXITSTATUS(status) : 104);
    }
    probe_and_exit(FAKE_OK);
  };
  EXPECT_EXIT(probe_in_child(), exits_with(CudaStatus::ok), "status=0");
}

TEST_F(CudaProbeOf, nothing_happens_before_the_first_question) {
  const auto look_at_maps = [] {
    choose(FAKE_OK);
    const auto mapped = [] {
      std::ifstream maps("/proc/self/maps");
      const std::string text(std::istreambuf_iterator<char>(maps), {});
      return text.find("fake_libcuda") != std::string::npos || text.find("libcuda.so") != std::string::npos;
    };
    if (mapped()) std::exit(1);
    probe_cuda();
    std::exit(mapped() ? 0 : 2);
  };
  EXPECT_EXIT(look_at_maps(), ExitedWithCode(0), "");
}

}  // namespace
}  // namespace strop::device
