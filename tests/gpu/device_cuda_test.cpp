// The CUDA device on a real GPU: facts, memory, loading, launching, and that every refusal leaves it usable.

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <thread>

#include "src/device/cuda/identity.h"
#include "src/device/cuda_facts.h"
#include "strop/error.h"
#include "tests/gpu/device_cuda_fixture.h"

namespace strop::device {
namespace {

TEST_F(CudaDeviceTest, knows_its_facts) {
  const DeviceFacts& facts = device_->facts();
  EXPECT_EQ(facts.kind, DeviceKind::cuda);
  EXPECT_FALSE(facts.name.empty());
  EXPECT_EQ(facts.arch.substr(0, 3), "sm_");
  EXPECT_EQ(facts.uuid.size(), 36u) << facts.uuid;
  EXPECT_GT(facts.sm_count, 0);
  EXPECT_EQ(facts.warp_size, 32);
  EXPECT_GE(facts.max_threads_per_block, 1024);
  EXPECT_GE(facts.shared_per_block, 48u << 10);
  EXPECT_GE(facts.shared_per_sm, facts.shared_per_block);
  EXPECT_GT(facts.l2_bytes, 0u);
  EXPECT_GT(facts.memory_bytes, 1u << 30);
  EXPECT_GT(facts.memory_bus_bits, 0);
  EXPECT_GE(facts.driver_api, 12000);
  EXPECT_NE(facts.driver.find('.'), std::string::npos) << facts.driver;
  EXPECT_FALSE(facts.driver_user_mode.empty());
}

TEST_F(CudaDeviceTest, names_the_driver_that_the_kernel_runs) {
  std::ifstream proc("/proc/driver/nvidia/version");
  const auto version = cuda::version_in_proc(std::string(std::istreambuf_iterator<char>(proc), {}));
  if (!version) GTEST_SKIP() << "/proc/driver/nvidia/version tells nothing here";
  EXPECT_EQ(device_->facts().driver, *version);
}

TEST_F(CudaDeviceTest, copies_bytes_there_across_and_back) {
  std::vector<unsigned char> bytes(1'000'003);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<unsigned char>(i * 7 + i / 251);
  const Buffer first = filled(bytes);
  const Buffer second(*device_, bytes.size());
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first.data()) % 256, 0u);
  device_->fill(second.data(), 0xa5, second.bytes());
  EXPECT_EQ(read<unsigned char>(second), std::vector<unsigned char>(bytes.size(), 0xa5));
  device_->copy(second.data(), first.data(), second.bytes());
  EXPECT_EQ(read<unsigned char>(second), bytes);
}

TEST_F(CudaDeviceTest, gives_memory_back) {
  const std::size_t before = device_->free_bytes();
  {
    const Buffer buffer(*device_, std::size_t{256} << 20);
    EXPECT_LE(device_->free_bytes() + (std::size_t{255} << 20), before);
  }
  EXPECT_GE(device_->free_bytes() + (std::size_t{32} << 20), before);
}

TEST_F(CudaDeviceTest, says_out_of_memory_and_goes_on) {
  EXPECT_THROW(device_->allocate(2 * device_->facts().memory_bytes), OutOfMemory);
  expect_usable();
}

TEST_F(CudaDeviceTest, refuses_garbage_and_goes_on) {
  EXPECT_THROW(device_->load("garbage", "add", 0), CudaError);
  EXPECT_THROW(device_->load(std::string("\x7f"
                                         "ELF") +
                                 std::string(2000, '\1'),
                             "add", 0),
               CudaError);
  EXPECT_THROW(device_->load(".version 7.0\n.target sm_70\nnonsense\n", "add", 0), CudaError);
  expect_usable();
}

TEST_F(CudaDeviceTest, names_the_entry_point_that_a_binary_lacks) {
  try {
    load("no_such_kernel");
    FAIL() << "loaded";
  } catch (const CudaError& error) {
    EXPECT_EQ(error.code(), 500);
    EXPECT_EQ(error.name(), "CUDA_ERROR_NOT_FOUND");
    EXPECT_EQ(error.call(), "cuModuleGetFunction");
    EXPECT_NE(std::string(error.what()).find("no_such_kernel"), std::string::npos);
  }
  expect_usable();
}

TEST_F(CudaDeviceTest, launches_on_the_default_stream) { expect_usable(); }

TEST_F(CudaDeviceTest, launches_with_more_shared_memory_than_48_KiB) {
  const auto bytes = static_cast<unsigned>(device_->facts().shared_per_block);
  const auto kernel = load("reverse", bytes);
  const Buffer out = filled(std::vector<std::int32_t>(256, -1));
  launch(*kernel, {{1}, {256}, bytes}, ReverseArgs{at<std::int32_t>(out), static_cast<std::int32_t>(bytes / 4 - 1)});
  device_->synchronize(nullptr);
  const auto got = read<std::int32_t>(out);
  for (int i = 0; i < 256; ++i) ASSERT_EQ(got[i], 255 - i);
}

TEST_F(CudaDeviceTest, refuses_more_shared_memory_than_there_is_and_goes_on) {
  EXPECT_THROW(load("reverse", static_cast<unsigned>(device_->facts().shared_per_block) + 4096), CudaError);
  const auto kernel = load("reverse");
  const Buffer out(*device_, 1024);
  EXPECT_THROW(launch(*kernel, {{1}, {256}, 64u << 10}, ReverseArgs{at<std::int32_t>(out), 1023}), CudaError)
      << "not opted in";
  expect_usable();
}

TEST_F(CudaDeviceTest, refuses_too_many_threads_and_goes_on) {
  const auto kernel = load("stray");
  try {
    launch(*kernel, {{1}, {2048}}, StrayArgs{nullptr});
    FAIL() << "launched";
  } catch (const CudaError& error) {
    EXPECT_FALSE(error.sticky()) << error.what();
    EXPECT_EQ(error.call(), "cuLaunchKernel");
    EXPECT_NE(std::string(error.what()).find("block 2048x1x1"), std::string::npos) << error.what();
  }
  EXPECT_THROW(launch(*kernel, {{1, 70000}, {32}}, StrayArgs{nullptr}), CudaError) << "grid y is 16 bits";
  expect_usable();
}

TEST_F(CudaDeviceTest, refuses_arguments_of_another_size) {
  if (cuda::opened().cuFuncGetParamInfo == nullptr) GTEST_SKIP() << "the driver can't tell a kernel's parameters";
  const auto kernel = load("add");
  EXPECT_THROW(launch(*kernel, {{1}, {32}}, StrayArgs{nullptr}), Error);
  expect_usable();
}

TEST_F(CudaDeviceTest, launches_clusters_and_overlapping_kernels) {
  if (device_->facts().arch < "sm_90" && device_->facts().arch.size() == 5)
    GTEST_SKIP() << "no clusters on " << device_->facts().arch;
  const auto kernel = device_->load(test_kernels_for_hopper(), "add", 0);
  const Buffer a = filled(std::vector<float>(1024, 1));
  const Buffer b = filled(std::vector<float>(1024, 2));
  const Buffer c = filled(std::vector<float>(1024, 0));
  const AddArgs args{at<float>(a), at<float>(b), at<float>(c), 1024};
  LaunchGeometry geometry{{4}, {256}};
  geometry.cluster = {2};
  launch(*kernel, geometry, args);
  geometry.overlap_previous = true;
  launch(*kernel, geometry, args);
  device_->synchronize(nullptr);
  EXPECT_EQ(read<float>(c), std::vector<float>(1024, 3));
  geometry.cluster = {3};  // does not divide the grid
  EXPECT_THROW(launch(*kernel, geometry, args), CudaError);
  expect_usable();
}

TEST_F(CudaDeviceTest, leaves_the_caller_s_context_as_it_was) {
  const auto& driver = cuda::driver();
  CUcontext current = nullptr;
  ASSERT_EQ(driver.cuCtxGetCurrent(&current), CUDA_SUCCESS);
  expect_usable();
  CUcontext after = nullptr;
  ASSERT_EQ(driver.cuCtxGetCurrent(&after), CUDA_SUCCESS);
  EXPECT_EQ(after, current);

  CUcontext other = nullptr;
  const auto create = driver_function<CUresult (*)(CUcontext*, unsigned, CUdevice)>("cuCtxCreate_v2");
  ASSERT_EQ(create(&other, 0, 0), CUDA_SUCCESS);
  expect_usable();
  ASSERT_EQ(driver.cuCtxGetCurrent(&after), CUDA_SUCCESS);
  EXPECT_EQ(after, other);
  EXPECT_THROW(load("no_such_kernel"), CudaError);
  ASSERT_EQ(driver.cuCtxGetCurrent(&after), CUDA_SUCCESS);
  EXPECT_EQ(after, other) << "after an exception";
  ASSERT_EQ(driver_function<CUresult (*)(CUcontext)>("cuCtxDestroy_v2")(other), CUDA_SUCCESS);
}

TEST_F(CudaDeviceTest, works_from_many_threads) {
  std::vector<std::thread> threads;
  std::atomic<int> failures{0};
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([this, &failures] {
      try {
        for (int round = 0; round < 10; ++round) expect_usable();
      } catch (const std::exception& error) {
        ++failures;
        std::cerr << error.what() << '\n';
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(failures, 0);
}

TEST_F(CudaDeviceTest, tells_its_facts_without_being_opened) {
  const auto facts = cuda_facts(0);
  EXPECT_EQ(facts.device_class(), device_->facts().device_class());
  EXPECT_EQ(facts.driver, device_->facts().driver);
  EXPECT_EQ(facts.uuid, device_->facts().uuid);
  EXPECT_THROW(cuda_facts(probe_cuda().devices), Error);
}

TEST_F(CudaDeviceTest, is_opened_twice_and_its_memory_is_shared) {
  const auto again = open_cuda(0);
  const Buffer buffer = filled(std::vector<std::int32_t>{1, 2, 3});
  std::vector<std::int32_t> seen(3);
  again->download(seen.data(), buffer.data(), buffer.bytes());
  EXPECT_EQ(seen, (std::vector<std::int32_t>{1, 2, 3})) << "both retain the primary context";
  EXPECT_THROW(open_cuda(probe_cuda().devices), Error);
  EXPECT_THROW(open_cuda(-1), Error);
}

TEST_F(CudaDeviceTest, outlives_a_fork_in_the_parent_and_refuses_in_the_child) {
  Buffer buffer = filled(std::vector<std::int32_t>{4});
  const pid_t child = fork();
  if (child == 0) {
    int code = 1;
    try {
      device_->allocate(16);
    } catch (const Error& error) {
      code = std::string(error.what()).find("forked") != std::string::npos ? 0 : 2;
    }
    buffer = Buffer();  // must neither hang nor crash
    device_.reset();
    _exit(code);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  expect_usable();
  EXPECT_EQ(read<std::int32_t>(buffer), std::vector<std::int32_t>{4});
}

TEST_F(CudaDeviceTest, tells_a_fault_as_a_sticky_error_and_ends_in_peace) {
  device_.reset();
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto fault = [this] {
    device_ = open_cuda(0);
    int code = 1;
    {
      const auto kernel = load("stray");
      const Buffer buffer(*device_, 64);
      launch(*kernel, {{1}, {1}}, StrayArgs{reinterpret_cast<std::int32_t*>(8)});
      try {
        device_->synchronize(nullptr);
      } catch (const CudaError& error) {
        std::cerr << error.what() << '\n';
        code = error.sticky() ? 0 : 2;
      }
    }
    device_.reset();
    std::exit(code);
  };
  EXPECT_EXIT(fault(), testing::ExitedWithCode(0), "CUDA_ERROR_ILLEGAL_ADDRESS.*the context is lost");
}

TEST_F(CudaDeviceTest, launches_at_the_driver_s_own_cost) {
  const auto kernel = load("stray");
  const auto& driver = cuda::driver();
  const Buffer buffer(*device_, 64);
  const StrayArgs args{at<std::int32_t>(buffer)};
  CUcontext context = nullptr;
  ASSERT_EQ(driver.cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
  ASSERT_EQ(driver.cuCtxPushCurrent(context), CUDA_SUCCESS);
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  ASSERT_EQ(driver.cuModuleLoadDataEx(&module, test_kernels().c_str(), 0, nullptr, nullptr), CUDA_SUCCESS);
  ASSERT_EQ(driver.cuModuleGetFunction(&function, module, "stray"), CUDA_SUCCESS);
  const auto best_of = [&](const auto& once) {
    double best = 1e9;
    for (int round = 0; round < 50; ++round) {
      const auto begin = std::chrono::steady_clock::now();
      for (int i = 0; i < 200; ++i) once();
      best = std::min(
          best, std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count() / 200);
      device_->synchronize(nullptr);
    }
    return best;
  };
  void* parameters[] = {const_cast<StrayArgs*>(&args)};
  const double bare =
      best_of([&] { driver.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr); });
  const double ours = best_of([&] { launch(*kernel, {{1}, {1}}, args); });
  std::cout << "launch: bare " << bare << " us, through the device " << ours << " us\n";
  EXPECT_LT(ours, 1.25 * bare);
  EXPECT_EQ(driver.cuModuleUnload(module), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuCtxPopCurrent(&context), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
}

}  // namespace
}  // namespace strop::device
