// Stream capture: detected, and not destroyed by what the device does beside it.

#include <thread>

#include "src/device/cuda/handles.h"
#include "strop/error.h"
#include "tests/gpu/device_cuda_fixture.h"

namespace strop::device {
namespace {

class CudaCapture : public CudaDeviceTest {
 protected:
  void SetUp() override {
    CudaDeviceTest::SetUp();
    if (!device_) return;
    const auto& driver = cuda::driver();
    ASSERT_EQ(driver.cuDevicePrimaryCtxRetain(&context_, 0), CUDA_SUCCESS);
    ASSERT_EQ(driver.cuCtxPushCurrent(context_), CUDA_SUCCESS);
    begin_ = driver_function<CUresult (*)(CUstream, CUstreamCaptureMode)>("cuStreamBeginCapture_v2");
    end_ = driver_function<CUresult (*)(CUstream, CUgraph*)>("cuStreamEndCapture");
    nodes_ = driver_function<CUresult (*)(CUgraph, CUgraphNode*, std::size_t*)>("cuGraphGetNodes");
    destroy_ = driver_function<CUresult (*)(CUgraph)>("cuGraphDestroy");
  }

  void TearDown() override {
    if (context_ == nullptr) return;
    EXPECT_EQ(cuda::driver().cuCtxPopCurrent(&context_), CUDA_SUCCESS);
    EXPECT_EQ(cuda::driver().cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
  }

  // Ends the capture; -1 when it had been destroyed.
  int captured_nodes(CUstream stream) {
    CUgraph graph = nullptr;
    if (end_(stream, &graph) != CUDA_SUCCESS || graph == nullptr) return -1;
    std::size_t count = 0;
    EXPECT_EQ(nodes_(graph, nullptr, &count), CUDA_SUCCESS);
    EXPECT_EQ(destroy_(graph), CUDA_SUCCESS);
    return static_cast<int>(count);
  }

  CUcontext context_ = nullptr;
  CUresult (*begin_)(CUstream, CUstreamCaptureMode) = nullptr;
  CUresult (*end_)(CUstream, CUgraph*) = nullptr;
  CUresult (*nodes_)(CUgraph, CUgraphNode*, std::size_t*) = nullptr;
  CUresult (*destroy_)(CUgraph) = nullptr;
};

TEST_F(CudaCapture, is_detected_on_its_stream_and_takes_launches) {
  const auto stream = cuda::make_stream(CU_STREAM_NON_BLOCKING);
  const Buffer buffer = filled(std::vector<std::int32_t>{0});
  const auto kernel = load("stray");
  EXPECT_FALSE(device_->capturing(stream.get()));
  ASSERT_EQ(begin_(stream.get(), CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
  EXPECT_TRUE(device_->capturing(stream.get()));
  EXPECT_FALSE(device_->capturing(nullptr)) << "a non-blocking stream's capture is no matter of the default stream";
  launch(*kernel, {{1}, {1}}, StrayArgs{at<std::int32_t>(buffer)}, stream.get());
  EXPECT_EQ(captured_nodes(stream.get()), 1);
  EXPECT_FALSE(device_->capturing(stream.get()));
  EXPECT_EQ(read<std::int32_t>(buffer), std::vector<std::int32_t>{0}) << "captured, not run";
}

TEST_F(CudaCapture, of_a_blocking_stream_is_detected_on_the_default_stream_and_survives_the_question) {
  const auto stream = cuda::make_stream(CU_STREAM_DEFAULT);
  const Buffer buffer(*device_, 64);
  const auto kernel = load("stray");
  ASSERT_EQ(begin_(stream.get(), CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
  EXPECT_TRUE(device_->capturing(nullptr));
  launch(*kernel, {{1}, {1}}, StrayArgs{at<std::int32_t>(buffer)}, stream.get());
  EXPECT_EQ(captured_nodes(stream.get()), 1);
}

TEST_F(CudaCapture, survives_what_the_device_does_beside_it) {
  const auto stream = cuda::make_stream(CU_STREAM_DEFAULT);
  const Buffer buffer(*device_, 64);
  const auto kernel = load("stray");
  ASSERT_EQ(begin_(stream.get(), CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
  const auto side_stream = cuda::make_stream(CU_STREAM_NON_BLOCKING);
  expect_usable(side_stream.get());  // allocates, uploads, loads, launches, waits, downloads, frees
  std::thread other([&] { expect_usable(side_stream.get()); });
  other.join();
  launch(*kernel, {{1}, {1}}, StrayArgs{at<std::int32_t>(buffer)}, stream.get());
  EXPECT_EQ(captured_nodes(stream.get()), 1) << "destroyed by an allocation or a load beside it";
}

TEST_F(CudaCapture, survives_a_timing_in_another_thread) {
  const auto stream = cuda::make_stream(CU_STREAM_DEFAULT);
  const auto kernel = load("wait_long");
  const WaitArgs args{10'000};
  ASSERT_EQ(begin_(stream.get(), CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
  std::vector<double> times;
  std::thread other([&] {
    times = device_->time([&](Stream timing, int) { launch(*kernel, {{1}, {1}}, args, timing); }, {2, 4});
  });
  other.join();
  EXPECT_EQ(times.size(), 2u);
  launch(*kernel, {{1}, {1}}, args, stream.get());
  EXPECT_EQ(captured_nodes(stream.get()), 1);
}

}  // namespace
}  // namespace strop::device
