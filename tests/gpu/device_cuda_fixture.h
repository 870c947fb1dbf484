#pragma once

// What the tests of the CUDA device share: one opened device, small verbs, and the few driver functions that the device
// itself has no use for (beginning a capture, making a second context). Skips, and says why, where there is no GPU.

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "src/device/cuda/driver.h"
#include "src/device/device.h"
#include "tests/gpu/device_kernels.h"

namespace strop::device {

class CudaDeviceTest : public testing::Test {
 protected:
  void SetUp() override {
    const CudaProbe found = probe_cuda();
    if (found.status != CudaStatus::ok) GTEST_SKIP() << "no usable GPU: " << found.reason;
    device_ = open_cuda(0);
  }

  template <class T>
  Buffer filled(const std::vector<T>& values) {
    Buffer buffer(*device_, values.size() * sizeof(T));
    device_->upload(buffer.data(), values.data(), buffer.bytes());
    return buffer;
  }

  template <class T>
  std::vector<T> read(const Buffer& buffer) {
    std::vector<T> values(buffer.bytes() / sizeof(T));
    device_->download(values.data(), buffer.data(), buffer.bytes());
    return values;
  }

  std::shared_ptr<LoadedKernel> load(const std::string& entry, unsigned dynamic_shared = 0) {
    return device_->load(test_kernels(), entry, dynamic_shared);
  }

  template <class Args>
  void launch(const LoadedKernel& kernel, const LaunchGeometry& geometry, const Args& args, Stream stream = nullptr) {
    device_->launch(kernel, geometry, &args, sizeof args, stream);
  }

  // Adds two vectors on the device and looks at the sum: the device works.
  void expect_usable(Stream stream = nullptr) {
    constexpr int kCount = 1000;
    std::vector<float> a(kCount);
    std::vector<float> b(kCount);
    for (int i = 0; i < kCount; ++i) {
      a[i] = static_cast<float>(i);
      b[i] = static_cast<float>(3 * i);
    }
    const Buffer on_a = filled(a);
    const Buffer on_b = filled(b);
    const Buffer on_c = filled(std::vector<float>(kCount, -1));
    const auto kernel = load("add");
    launch(*kernel, {{4}, {256}}, AddArgs{at<float>(on_a), at<float>(on_b), at<float>(on_c), kCount}, stream);
    device_->synchronize(stream);
    const auto c = read<float>(on_c);
    for (int i = 0; i < kCount; ++i) ASSERT_EQ(c[i], 4.0f * static_cast<float>(i)) << "element " << i;
  }

  template <class T>
  static T* at(const Buffer& buffer) {
    return static_cast<T*>(buffer.data());
  }

  // A function of the driver that is not in the device's table; `symbol` with its suffix ("cuCtxCreate_v2").
  template <class Function>
  static Function driver_function(const char* symbol) {
    void* library = dlopen(probe_cuda().library.c_str(), RTLD_NOW | RTLD_NOLOAD);
    auto function = reinterpret_cast<Function>(dlsym(library, symbol));
    EXPECT_NE(function, nullptr) << symbol;
    return function;
  }

  std::unique_ptr<Device> device_;
};

}  // namespace strop::device
