#include <gtest/gtest.h>

#include "src/device/cuda/identity.h"

namespace strop::device::cuda {
namespace {

TEST(DriverIdentity, is_read_from_the_closed_kernel_module_s_text) {
  EXPECT_EQ(version_in_proc("NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19 01:15:15 UTC 2023\n"
                            "GCC version:  gcc version 12.2.0 (Debian 12.2.0-14)\n"),
            "535.104.05");
}

TEST(DriverIdentity, is_read_from_the_open_kernel_module_s_text) {
  EXPECT_EQ(
      version_in_proc("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65  Release Build  (root@host)\n"
                      "GCC version:  gcc version 13.3.0\n"),
      "580.65");
}

TEST(DriverIdentity, is_not_taken_from_the_compiler_s_line) {
  EXPECT_EQ(version_in_proc("NVRM version: NVIDIA UNIX\nGCC version:  gcc version 12.2.0\n"), std::nullopt);
  EXPECT_EQ(version_in_proc(""), std::nullopt);
}

TEST(DriverIdentity, is_read_from_the_library_s_real_name) {
  EXPECT_EQ(version_in_path("/usr/lib/x86_64-linux-gnu/libcuda.so.580.159.03"), "580.159.03");
  EXPECT_EQ(version_in_path("/usr/lib/libcuda.so.535.54"), "535.54");
}

TEST(DriverIdentity, is_not_taken_from_a_soname) {
  EXPECT_EQ(version_in_path("/usr/lib/libcuda.so.1"), std::nullopt);
  EXPECT_EQ(version_in_path("/usr/lib/libcuda.so"), std::nullopt);
  EXPECT_EQ(version_in_path("/usr/lib/libcuda.so."), std::nullopt);
  EXPECT_EQ(version_in_path(""), std::nullopt);
}

}  // namespace
}  // namespace strop::device::cuda
