// causal_conv1d as a user of CUDA meets it: inside stream captures, and on memory that kernels can't reach.

#include <atomic>
#include <functional>
#include <thread>

#include "src/device/cuda/handles.h"
#include "strop/error.h"
#include "tests/gpu/device_cuda_fixture.h"
#include "tests/support/conv_call.h"

namespace strop {
namespace {

using test::ConvCall;

CausalConv1dProblem problem_of(std::int64_t T, std::int64_t D) {
  CausalConv1dProblem problem;
  problem.B = 2;
  problem.T = T;
  problem.D = D;
  problem.bias = true;
  return problem;
}

class ConvOnCuda : public device::CudaDeviceTest {
 protected:
  void SetUp() override {
    CudaDeviceTest::SetUp();
    if (!device_) return;
    const auto& driver = device::cuda::driver();
    ASSERT_EQ(driver.cuDevicePrimaryCtxRetain(&context_, 0), CUDA_SUCCESS);
    ASSERT_EQ(driver.cuCtxPushCurrent(context_), CUDA_SUCCESS);
    library_ = open();
  }
  void TearDown() override {
    if (context_ == nullptr) return;
    library_.reset();
    CUcontext popped = nullptr;
    EXPECT_EQ(device::cuda::driver().cuCtxPopCurrent(&popped), CUDA_SUCCESS);
    EXPECT_EQ(popped, context_) << "a context was left on the thread's stack";
    EXPECT_EQ(device::cuda::driver().cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
  }

  static std::shared_ptr<Library> open() {
    Options options;
    options.device = "cuda";
    options.cache_path = ":memory:";
    return Library::open(options);
  }

  void begin(CUstream stream) {
    ASSERT_EQ(driver_function<CUresult (*)(CUstream, CUstreamCaptureMode)>("cuStreamBeginCapture_v2")(stream, CU_STREAM_CAPTURE_MODE_GLOBAL),
              CUDA_SUCCESS);
  }
  // Empty when the capture had been destroyed.
  CUgraphExec end(CUstream stream) {
    CUgraph graph = nullptr;
    if (driver_function<CUresult (*)(CUstream, CUgraph*)>("cuStreamEndCapture")(stream, &graph) != CUDA_SUCCESS) return nullptr;
    CUgraphExec ready = nullptr;
    const auto result = driver_function<CUresult (*)(CUgraphExec*, CUgraph, unsigned long long)>("cuGraphInstantiateWithFlags")(&ready, graph, 0);
    EXPECT_EQ(result, CUDA_SUCCESS);
    driver_function<CUresult (*)(CUgraph)>("cuGraphDestroy")(graph);
    return ready;
  }

  CUcontext context_ = nullptr;
  std::shared_ptr<Library> library_;
};

TEST_F(ConvOnCuda, AColdKeyInsideACaptureIsRefusedByNameAndTheCaptureLives) {
  CausalConv1d conv(library_);
  ConvCall cold(library_, problem_of(300, 64));
  ConvCall warm(library_, problem_of(200, 64));
  warm.run(conv);
  const auto expected = warm.values("y");
  const auto stream = device::cuda::make_stream(CU_STREAM_NON_BLOCKING);
  library_->synchronize();
  const auto before = library_->counters();
  begin(stream.get());
  try {
    conv.forward(cold.shape().problem, cold.forward_tensors(), stream.get());
    ADD_FAILURE() << "not refused";
  } catch (const NotReady& error) {
    EXPECT_NE(std::string(error.what()).find("T=300"), std::string::npos) << error.what();
  }
  EXPECT_THROW(conv.backward(cold.shape().problem, cold.backward_tensors(), stream.get()), NotReady);
  conv.forward(warm.shape().problem, warm.forward_tensors(), stream.get());
  CUgraphExec graph = end(stream.get());
  ASSERT_NE(graph, nullptr) << "the capture was destroyed";
  EXPECT_EQ(library_->counters().compiles, before.compiles);
  EXPECT_EQ(library_->counters().timings, before.timings);
  EXPECT_EQ(library_->counters().loads, before.loads);
  const auto launch = driver_function<CUresult (*)(CUgraphExec, CUstream)>("cuGraphLaunch");
  ASSERT_EQ(launch(graph, stream.get()), CUDA_SUCCESS);
  library_->synchronize(stream.get());
  EXPECT_EQ(warm.values("y"), expected);
  driver_function<CUresult (*)(CUgraphExec)>("cuGraphExecDestroy")(graph);
  EXPECT_EQ(cold.wrong(conv), "") << "outside the capture the key is tuned and runs";
}

TEST_F(ConvOnCuda, ACaptureOfBothDirectionsReplaysAHundredTimesWhileAnotherThreadTunes) {
  CausalConv1d conv(library_);
  ConvCall call(library_, problem_of(1000, 256));
  call.run(conv);
  const auto y = call.values("y"), dx = call.values("dx"), dw = call.values("dw"), db = call.values("db");
  const auto stream = device::cuda::make_stream(CU_STREAM_NON_BLOCKING);
  const auto& problem = call.shape().problem;
  begin(stream.get());
  std::atomic<bool> tuned{false};
  std::thread other([&] {
    const auto different = problem_of(777, 72);  // another class of code
    conv.warmup({&different, 1});
    tuned = true;
  });
  conv.forward(problem, call.forward_tensors(), stream.get());
  conv.backward(problem, call.backward_tensors(), stream.get());
  CUgraphExec graph = end(stream.get());
  ASSERT_NE(graph, nullptr) << "the capture was destroyed";
  const auto launch = driver_function<CUresult (*)(CUgraphExec, CUstream)>("cuGraphLaunch");
  const std::vector<std::byte> poison(static_cast<std::size_t>(problem.B * problem.T * problem.D) * 2, std::byte{0xff});
  library_->upload(call.forward_tensors().y, poison.data(), poison.size());
  library_->upload(call.backward_tensors().dx, poison.data(), poison.size());
  for (int i = 0; i < 100; ++i) ASSERT_EQ(launch(graph, stream.get()), CUDA_SUCCESS);
  library_->synchronize(stream.get());
  other.join();
  EXPECT_TRUE(tuned);
  EXPECT_EQ(call.values("y"), y);
  EXPECT_EQ(call.values("dx"), dx);
  EXPECT_EQ(call.values("dw"), dw);
  EXPECT_EQ(call.values("db"), db);
  driver_function<CUresult (*)(CUgraphExec)>("cuGraphExecDestroy")(graph);
}

TEST_F(ConvOnCuda, MemoryOfTheHostIsRefusedByNameAndTheContextLives) {
  CausalConv1d conv(library_);
  ConvCall call(library_, problem_of(64, 32));
  const auto& problem = call.shape().problem;
  std::vector<float> host(1 << 16);  // large enough for each
  const auto refused = [](const std::function<void()>& act) -> std::string {
    try {
      act();
    } catch (const Unsupported& error) {
      return error.what();
    }
    return "it was not refused";
  };
  using Forward = CausalConv1dForward;
  const std::pair<const char*, std::function<void(Forward&)>> forward[] = {
      {"x is memory of the host", [&](Forward& t) { t.x = host.data(); }},
      {"weight is memory of the host", [&](Forward& t) { t.weight = host.data(); }},
      {"bias is memory of the host", [&](Forward& t) { t.bias = host.data(); }},
      {"y is memory of the host", [&](Forward& t) { t.y = host.data(); }}};
  for (const auto& [expected, change] : forward) {
    auto t = call.forward_tensors();
    change(t);
    EXPECT_NE(refused([&] { conv.forward(problem, t, nullptr); }).find(expected), std::string::npos) << expected;
  }
  using Backward = CausalConv1dBackward;
  const std::pair<const char*, std::function<void(Backward&)>> backward[] = {
      {"dy is memory of the host", [&](Backward& t) { t.dy = host.data(); }},
      {"dx is memory of the host", [&](Backward& t) { t.dx = host.data(); }},
      {"dw is memory of the host", [&](Backward& t) { t.dw = host.data(); }},
      {"db is memory of the host", [&](Backward& t) { t.db = host.data(); }}};
  for (const auto& [expected, change] : backward) {
    auto t = call.backward_tensors();
    change(t);
    EXPECT_NE(refused([&] { conv.backward(problem, t, nullptr); }).find(expected), std::string::npos) << expected;
  }
  EXPECT_EQ(call.wrong(conv), "");
}

TEST_F(ConvOnCuda, MappedAndManagedMemoryIsTaken) {
  CausalConv1d conv(library_);
  ConvCall call(library_, problem_of(64, 32));
  call.run(conv);
  const auto& problem = call.shape().problem;
  const std::size_t bytes = static_cast<std::size_t>(problem.B * problem.T * problem.D) * 2;
  std::vector<std::byte> expected(bytes), got(bytes);
  library_->download(expected.data(), call.forward_tensors().y, bytes);
  const auto mapped = device::cuda::make_mapped(bytes);
  CUdeviceptr managed = 0;
  ASSERT_EQ(driver_function<CUresult (*)(CUdeviceptr*, std::size_t, unsigned)>("cuMemAllocManaged")(&managed, bytes, CU_MEM_ATTACH_GLOBAL),
            CUDA_SUCCESS);
  for (void* y : {mapped.get(), reinterpret_cast<void*>(managed)}) {
    auto t = call.forward_tensors();
    t.y = y;
    conv.forward(problem, t, nullptr);
    library_->synchronize();
    std::memcpy(got.data(), y, bytes);
    EXPECT_EQ(got, expected);
  }
  EXPECT_EQ(device::cuda::driver().cuMemFree(managed), CUDA_SUCCESS);
}

}  // namespace
}  // namespace strop
