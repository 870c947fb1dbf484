// The host as a device: facts, memory, loading, launch limits. Kernels are compiled by the system's compiler.

#include "src/device/host/host_device.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <thread>

#include "strop/error.h"
#include "tests/host/build.h"

namespace strop::device {
namespace {

struct Args {
  unsigned* out;
  unsigned add;
};

// out[i] = i + add + `plus`, a thread an element; every block waits at a barrier once.
KernelTemplate counting_template() {
  KernelTemplate kernel;
  kernel.name = "counting";
  kernel.file = "counting.cuh";
  kernel.function = "counting";
  kernel.params = "Params";
  kernel.args = "Args";
  kernel.args_size = sizeof(Args);
  kernel.sources["counting.cuh"] = R"(#include "common/types.cuh"
struct Args { unsigned* out; unsigned add; };
struct Params { static constexpr int threads = 64; static constexpr int plus = 0; };
template <class P> __device__ void counting(const Args& a) {
  STROP_DYNAMIC_SHARED(unsigned, cells);
  const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const unsigned size = blockDim.x * blockDim.y * blockDim.z;
  const unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  if (cells) cells[thread] = thread;
  __syncthreads();
  a.out[block * size + thread] = block * size + (cells ? cells[thread] : thread) + a.add + P::plus;
}
)";
  return kernel;
}

class HostDeviceTest : public testing::Test {
 protected:
  std::shared_ptr<LoadedKernel> load(int threads = 64, unsigned dynamic_shared = 0, int plus = 0) {
    const jit::Binary binary = host_test::build(counting_template(), {{"threads", threads}, {"plus", plus}});
    return device_.load(binary.bytes, binary.entry, dynamic_shared);
  }
  LaunchGeometry geometry(Dim3 grid, Dim3 block, unsigned dynamic_shared = 0) {
    LaunchGeometry geometry;
    geometry.grid = grid;
    geometry.block = block;
    geometry.dynamic_shared = dynamic_shared;
    return geometry;
  }
  // Launches and says whether element i is i + `add`.
  bool counts(const LoadedKernel& kernel, const LaunchGeometry& g, unsigned add) {
    const std::size_t n = std::size_t{1} * g.grid.x * g.grid.y * g.grid.z * g.block.x * g.block.y * g.block.z;
    Buffer out(device_, n * 4);
    const Args args{static_cast<unsigned*>(out.data()), 0};
    device_.launch(kernel, g, &args, sizeof args, nullptr);
    std::vector<unsigned> words(n);
    device_.download(words.data(), out.data(), out.bytes());
    for (std::size_t i = 0; i < n; ++i)
      if (words[i] != i + add) return false;
    return true;
  }
  void expect_refused(const LoadedKernel& kernel, const LaunchGeometry& g, const char* said) {
    std::array<unsigned, 4> out{};
    const Args args{out.data(), 0};
    try {
      device_.launch(kernel, g, &args, sizeof args, nullptr);
      FAIL() << "launched: " << said;
    } catch (const CudaError& error) {
      EXPECT_EQ(error.name(), "CUDA_ERROR_INVALID_VALUE");
      EXPECT_NE(std::string(error.what()).find(said), std::string::npos) << error.what();
    }
  }

  host::HostDevice device_;
};

TEST_F(HostDeviceTest, facts_name_the_cpu_and_say_host) {
  const DeviceFacts& facts = device_.facts();
  EXPECT_EQ(facts.kind, DeviceKind::host);
  EXPECT_FALSE(facts.name.empty());
  EXPECT_EQ(facts.arch, "x86_64");
  EXPECT_GE(facts.sm_count, 1);
  EXPECT_EQ(facts.shared_per_block, 227u * 1024);
  EXPECT_EQ(facts.driver, "host-1");
  EXPECT_GT(device_.free_bytes(), 0u);
}

TEST_F(HostDeviceTest, memory_is_aligned_copied_and_filled) {
  Buffer a(device_, 1001), b(device_, 1001);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a.data()) % 256, 0u);
  std::vector<char> sent(1001, 'x'), got(1001);
  device_.upload(a.data(), sent.data(), sent.size());
  device_.copy(b.data(), a.data(), sent.size());
  device_.fill(b.data(), 'y', 1000);
  device_.download(got.data(), b.data(), got.size());
  EXPECT_EQ(std::string(got.begin(), got.end()), std::string(1000, 'y') + "x");
}

TEST_F(HostDeviceTest, more_memory_than_there_is_is_refused) {
  EXPECT_THROW(Buffer(device_, device_.facts().memory_bytes + 1), OutOfMemory);
}

TEST_F(HostDeviceTest, blocks_and_threads_of_three_dimensions_run_once_each) {
  const auto kernel = load(1024);
  EXPECT_TRUE(counts(*kernel, geometry({3, 2, 2}, {4, 3, 5}), 0));
  EXPECT_TRUE(counts(*kernel, geometry({1, 1, 1}, {1, 1, 1}), 0));
  EXPECT_TRUE(counts(*kernel, geometry({2, 1, 1}, {1024, 1, 1}), 0));
}

TEST_F(HostDeviceTest, every_order_of_blocks_runs_each_once) {
  const auto kernel = load();
  for (const host::Order order : {host::Order::forward, host::Order::reverse, host::Order::random}) {
    for (const unsigned blocks : {1u, 2u, 3u, 5u, 30u, 64u, 97u}) {
      for (const int workers : {1, 4}) {
        device_.set_run_options({.order = order, .seed = blocks, .workers = workers});
        EXPECT_TRUE(counts(*kernel, geometry({blocks, 1, 1}, {64, 1, 1}), 0)) << blocks;
      }
    }
  }
}

TEST_F(HostDeviceTest, two_kernels_loaded_together_are_two_kernels) {
  const auto one = load(64, 0, 1);
  auto two = load(64, 0, 2);
  const LaunchGeometry g = geometry({2, 1, 1}, {64, 1, 1});
  EXPECT_TRUE(counts(*one, g, 1));
  EXPECT_TRUE(counts(*two, g, 2));
  two.reset();
  const auto three = load(64, 0, 3);
  EXPECT_TRUE(counts(*three, g, 3));
  EXPECT_TRUE(counts(*one, g, 1));
}

TEST_F(HostDeviceTest, dynamic_shared_memory_up_to_the_opted_in_size) {
  const auto kernel = load(64, 64 * 4);
  EXPECT_TRUE(counts(*kernel, geometry({2, 1, 1}, {64, 1, 1}, 64 * 4), 0));
  expect_refused(*kernel, geometry({1, 1, 1}, {64, 1, 1}, 64 * 4 + 1), "dynamic shared memory");
}

TEST_F(HostDeviceTest, launches_that_a_gpu_refuses_are_refused) {
  const auto kernel = load(64);
  expect_refused(*kernel, geometry({1, 1, 1}, {65, 1, 1}), "compiled for at most 64");
  expect_refused(*kernel, geometry({1, 1, 1}, {1025, 1, 1}), "1024 is the limit");
  expect_refused(*kernel, geometry({1, 1, 1}, {32, 32, 2}), "1024 is the limit");
  expect_refused(*kernel, geometry({1, 1, 1}, {1, 1, 65}), "1024 is the limit");
  expect_refused(*kernel, geometry({1, 1, 1}, {0, 1, 1}), "a block of 0x1x1");
  expect_refused(*kernel, geometry({0, 1, 1}, {64, 1, 1}), "a grid of 0x1x1");
  expect_refused(*kernel, geometry({2147483648u, 1, 1}, {64, 1, 1}), "a grid of 2147483648x1x1");
  expect_refused(*kernel, geometry({1, 65536, 1}, {64, 1, 1}), "a grid of 1x65536x1");
  expect_refused(*kernel, geometry({1, 1, 65536}, {64, 1, 1}), "a grid of 1x1x65536");
  EXPECT_TRUE(counts(*kernel, geometry({2, 1, 1}, {64, 1, 1}), 0));
}

TEST_F(HostDeviceTest, arguments_of_another_size_are_refused) {
  const auto kernel = load();
  const unsigned long long one = 0;
  EXPECT_THROW(device_.launch(*kernel, geometry({1, 1, 1}, {64, 1, 1}), &one, sizeof one, nullptr), CudaError);
}

TEST_F(HostDeviceTest, clusters_are_not_supported) {
  const auto kernel = load();
  LaunchGeometry g = geometry({2, 1, 1}, {64, 1, 1});
  g.cluster.x = 2;
  std::vector<unsigned> out(128);
  const Args args{out.data(), 0};
  try {
    device_.launch(*kernel, g, &args, sizeof args, nullptr);
    FAIL();
  } catch (const CudaError& error) {
    EXPECT_EQ(error.name(), "CUDA_ERROR_NOT_SUPPORTED");
  }
}

TEST_F(HostDeviceTest, what_is_no_kernel_does_not_load) {
  EXPECT_THROW(device_.load("not a shared object", "strop_entry", 0), Error);
  EXPECT_THROW(device_.load("", "strop_entry", 0), Error);
  const jit::Binary binary = host_test::build(counting_template(), {{"threads", 64}});
  EXPECT_THROW(device_.load(binary.bytes, "another_entry", 0), CudaError);
  EXPECT_THROW(device_.load(binary.bytes.substr(0, binary.bytes.size() / 2), binary.entry, 0), Error);
  EXPECT_THROW(device_.load(binary.bytes, binary.entry, 228 * 1024), CudaError);
}

TEST_F(HostDeviceTest, a_binary_of_another_runtime_version_does_not_load) {
  KernelTemplate kernel = counting_template();
  kernel.sources["counting.cuh"] += R"(
#undef STROP_ENTRY
#define STROP_ENTRY(entry, Args, threads, min_blocks, fn) \
  extern "C" __attribute__((visibility("default"))) void entry(const void*) {} \
  extern "C" __attribute__((visibility("default"))) void entry##_info(strop::host::KernelInfo* info) { info->version = 999; }
)";
  const jit::Binary binary = host_test::build(kernel, {{"threads", 64}});
  try {
    device_.load(binary.bytes, binary.entry, 0);
    FAIL();
  } catch (const CudaError& error) {
    EXPECT_NE(std::string(error.what()).find("version 999"), std::string::npos) << error.what();
  }
}

TEST_F(HostDeviceTest, many_threads_launch_at_once) {
  const auto kernel = load();
  std::atomic<int> right{0};
  std::vector<std::thread> callers;
  for (int i = 0; i < 8; ++i) {
    callers.emplace_back([&] {
      for (int j = 0; j < 5; ++j) right += counts(*kernel, geometry({7, 1, 1}, {64, 1, 1}), 0);
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(right, 40);
}

TEST_F(HostDeviceTest, time_calls_in_order_and_gives_a_value_a_batch) {
  std::vector<int> calls;
  const std::vector<double> seconds =
      device_.time([&](Stream, int i) { calls.push_back(i); }, {.batches = 3, .launches = 2});
  EXPECT_EQ(calls, (std::vector<int>{0, 1, 2, 3, 4, 5}));
  ASSERT_EQ(seconds.size(), 3u);
  for (const double s : seconds) EXPECT_GE(s, 0.0);
}

TEST_F(HostDeviceTest, a_device_can_be_opened_and_closed_again_and_again) {
  for (int i = 0; i < 5; ++i) {
    const auto device = open_host();
    EXPECT_EQ(device->facts().kind, DeviceKind::host);
  }
}

TEST_F(HostDeviceTest, works_in_the_child_of_a_fork_and_in_the_parent_after_it) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "ThreadSanitizer ends a forked child that starts threads";
#endif
  const auto kernel = load();
  ASSERT_TRUE(counts(*kernel, geometry({8}, {64}), 0));
  std::atomic<bool> stop{false};
  std::thread busy([&] {  // so that the fork comes in the middle of a launch
    while (!stop) counts(*kernel, geometry({8}, {64}), 0);
  });
  for (int i = 0; i < 5; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(60);  // it hung when it is killed by that
      const bool good = counts(*kernel, geometry({8}, {64}), 0) && counts(*kernel, geometry({8}, {64}), 0);
      { const auto another = open_host(); }
      _exit(good ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
  stop = true;
  busy.join();
  EXPECT_TRUE(counts(*kernel, geometry({8}, {64}), 0));
}

}  // namespace
}  // namespace strop::device
