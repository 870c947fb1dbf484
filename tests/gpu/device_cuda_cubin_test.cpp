// From a template's text to numbers on the GPU: a cubin that the toolchain made, loaded and launched.

#include "jit/toolchain.h"
#include "strop/error.h"
#include "tests/gpu/device_cuda_fixture.h"

namespace strop::device {
namespace {

// Adds two vectors through dynamic shared memory, beyond what a block may have without asking.
constexpr const char* kText = R"(
#pragma once
namespace test {
struct AddArgs { const float* a; const float* b; float* c; int n; };
struct AddParams {
  static constexpr int threads = 128;
  static constexpr int first_word = 0;
};
template <class P>
__device__ void add(const AddArgs& args) {
  STROP_DYNAMIC_SHARED(float, words);
  const int i = static_cast<int>(blockIdx.x) * P::threads + static_cast<int>(threadIdx.x);
  words[P::first_word + threadIdx.x] = i < args.n ? args.a[i] : 0.0f;
  __syncthreads();
  if (i < args.n) args.c[i] = words[P::first_word + threadIdx.x] + args.b[i];
}
}  // namespace test
)";

constexpr unsigned kDynamicShared = 100u << 10;

class CudaCubin : public CudaDeviceTest {
 protected:
  jit::Binary compile(const std::string& target) {
    KernelTemplate add;
    add.name = "test_add";
    add.file = "add.cuh";
    add.function = "test::add";
    add.params = "test::AddParams";
    add.args = "test::AddArgs";
    add.args_size = sizeof(AddArgs);
    add.sources["add.cuh"] = kText;
    const Config constants{{"first_word", kDynamicShared / 4 - 256}};
    return jit::make_nvrtc()->compile({&add, constants, Config{{"threads", 256}}, target});
  }
};

TEST_F(CudaCubin, that_the_toolchain_made_runs_with_its_dynamic_shared_memory) {
  const auto binary = compile(device_->facts().arch);
  const auto kernel = device_->load(binary.bytes, binary.entry, kDynamicShared);
  constexpr int kCount = 100'001;
  const Buffer a = filled(std::vector<float>(kCount, 1.5f));
  const Buffer b = filled(std::vector<float>(kCount, 2.0f));
  const Buffer c = filled(std::vector<float>(kCount, 0.0f));
  const LaunchGeometry geometry{{(kCount + 255) / 256}, {256}, kDynamicShared};
  launch(*kernel, geometry, AddArgs{at<float>(a), at<float>(b), at<float>(c), kCount});
  device_->synchronize(nullptr);
  EXPECT_EQ(read<float>(c), std::vector<float>(kCount, 3.5f));
}

TEST_F(CudaCubin, with_less_shared_memory_than_launched_is_refused_and_the_device_goes_on) {
  const auto binary = compile(device_->facts().arch);
  const auto kernel = device_->load(binary.bytes, binary.entry, 0);
  const Buffer a = filled(std::vector<float>(256, 1));
  const AddArgs args{at<float>(a), at<float>(a), at<float>(a), 256};
  EXPECT_THROW(launch(*kernel, {{1}, {256}, kDynamicShared}, args), CudaError);
  EXPECT_THROW(launch(*kernel, {{1}, {512}, 0}, args), CudaError) << "more threads than the launch bounds";
  expect_usable();
}

TEST_F(CudaCubin, cut_anywhere_is_refused_and_the_device_goes_on) {
  const auto binary = compile(device_->facts().arch);
  for (std::size_t bytes = 0; bytes < binary.bytes.size(); bytes += 97) {
    EXPECT_THROW(device_->load(std::string(binary.bytes, 0, bytes), binary.entry, 0), CudaError)
        << "cut after " << bytes;
  }
  expect_usable();
}

TEST_F(CudaCubin, for_another_architecture_is_refused_and_says_so) {
  const std::string other = device_->facts().arch == "sm_80" ? "sm_90" : "sm_80";
  const auto binary = compile(other);
  try {
    device_->load(binary.bytes, binary.entry, 0);
    FAIL() << "loaded a binary for " << other << " on " << device_->facts().arch;
  } catch (const CudaError& error) {
    EXPECT_FALSE(error.sticky());
    EXPECT_NE(std::string(error.what()).find("another architecture"), std::string::npos) << error.what();
  }
  expect_usable();
}

}  // namespace
}  // namespace strop::device
