// How long an address is remembered as one that kernels can follow. The driver is the test's.

#include <gtest/gtest.h>

#include <chrono>

#include "src/device/cuda/pointers.h"

namespace strop::device::cuda {
namespace {

using namespace std::chrono_literals;

int asked = 0;
int owner = 0;  // the device whose memory every address is

CUresult answer(unsigned, CUpointer_attribute*, void** data, CUdeviceptr) {
  ++asked;
  *static_cast<CUmemorytype*>(data[0]) = CU_MEMORYTYPE_DEVICE;
  *static_cast<int*>(data[1]) = owner;
  *static_cast<unsigned*>(data[2]) = 0;
  return CUDA_SUCCESS;
}

TEST(CudaPointers, an_address_that_became_another_devices_memory_is_noticed_after_a_second) {
  Driver driver;
  driver.cuPointerGetAttributes = answer;
  int here = 0;
  const void* const pointers[] = {&here};
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(first_unreachable(driver, 0, false, pointers, begin), 1u);
  owner = 1;
  EXPECT_EQ(first_unreachable(driver, 0, false, pointers, begin + 999ms), 1u);
  EXPECT_EQ(asked, 1) << "a launch would ask each time";
  EXPECT_EQ(first_unreachable(driver, 0, false, pointers, begin + 1001ms), 0u);
}

}  // namespace
}  // namespace strop::device::cuda
