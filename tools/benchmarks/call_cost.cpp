// Host time of one warm call: a bare cuLaunchKernel of the winner's kernel, a kept plan, and CausalConv1d::forward (lookup and launch),
// interleaved in one run. Prints medians in nanoseconds and the ratios to the bare launch. Needs a GPU.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "src/device/cuda/cuda_kernel.h"
#include "src/device/cuda/driver.h"
#include "src/engine/parts.h"
#include "src/ops/causal_conv1d/kernels.h"
#include "src/ops/causal_conv1d/problems.h"
#include "strop/strop.h"

namespace {

using namespace strop;

constexpr int kCalls = 200;    // well under the depth of the launch queue
constexpr int kRounds = 101;

template <class Call>
double round_ns(Library& library, const Call& call) {
  library.synchronize();
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < kCalls; ++i) call();
  const auto end = std::chrono::steady_clock::now();
  return std::chrono::duration<double, std::nano>(end - begin).count() / kCalls;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// The winner's binary loaded once more, so that its CUfunction is at hand.
std::shared_ptr<device::LoadedKernel> load_again(Library& library, const ops::ConvFwdProblem& problem, const Config& config) {
  auto& parts = engine::parts_of(library);
  const auto code = jit::code_identity(parts.request(ops::conv_fwd_kernel(), problem.constants(), config)).digest();
  const auto binary = parts.store->find_binary(code, "");
  if (!binary) throw Error("the winner's binary is not in the cache");
  return parts.device->load(binary->bytes, binary->entry, 0);
}

}  // namespace

int main() try {
  const auto library = Library::open({.device = "cuda"});
  CausalConv1d conv(library);
  CausalConv1dProblem p;
  p.B = 1, p.T = 256, p.D = 256;  // short: the launch queue never fills
  const auto bytes = static_cast<std::size_t>(2 * p.T * p.D);
  const auto x = library->allocate(bytes), y = library->allocate(bytes),
             weight = library->allocate(std::size_t{4} * 4 * 256);
  const CausalConv1dForward tensors{.x = x.get(), .weight = weight.get(), .bias = nullptr, .y = y.get()};
  const auto plan = conv.plan_forward(p);
  const ops::ConvFwdProblem problem(ops::make_shape(p));
  const auto& config = plan->kernel().config();
  const auto geometry = plan->kernel().geometry();
  auto arguments = problem.args(config, tensors);
  const auto loaded = load_again(*library, problem, config);
  const auto function = dynamic_cast<const device::cuda::CudaKernel&>(*loaded).function();
  const auto& driver = device::cuda::driver();
  void* parameters[] = {&arguments};
  const auto bare = [&] {
    driver.cuLaunchKernel(function, geometry.grid.x, 1, 1, geometry.block.x, 1, 1, 0, nullptr, parameters, nullptr);
  };
  CUcontext context = nullptr;
  driver.cuDevicePrimaryCtxRetain(&context, 0);
  driver.cuCtxPushCurrent(context);  // as in a training process, whose framework has made it current
  std::vector<double> t_bare, t_plan, t_call;
  for (int round = 0; round < kRounds; ++round) {
    t_bare.push_back(round_ns(*library, bare));
    t_plan.push_back(round_ns(*library, [&] { plan->launch(tensors, nullptr); }));
    t_call.push_back(round_ns(*library, [&] { conv.forward(p, tensors, nullptr); }));
  }
  library->synchronize();
  const double b = median(t_bare);
  std::printf("bare cuLaunchKernel %.0f ns | kept plan %.0f ns (%.2f x) | lookup and launch %.0f ns (%.2f x)\n", b, median(t_plan),
              median(t_plan) / b, median(t_call), median(t_call) / b);
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
