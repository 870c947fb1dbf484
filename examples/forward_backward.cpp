// Forward and backward of causal_conv1d on the caller's own device pointers and stream.

#include <cmath>
#include <cstdio>
#include <vector>

#include "strop/strop.h"

int main() {
  const auto library = strop::Library::open();
  strop::CausalConv1d conv(library);
  strop::CausalConv1dProblem problem;
  problem.B = 2, problem.T = 64, problem.D = 32, problem.W = 4;
  problem.x_type = strop::DType::fp32;
  if (const auto reason = strop::CausalConv1d::why_unsupported(problem)) {
    std::printf("not supported: %s\n", reason->c_str());
    return 1;
  }

  const std::size_t elements = problem.B * problem.T * problem.D;
  const std::vector<float> ones(elements, 1.0F), taps(problem.D * problem.W, 0.25F);
  const auto x = library->allocate(4 * elements), y = library->allocate(4 * elements), dx = library->allocate(4 * elements);
  const auto weight = library->allocate(4 * taps.size()), dw = library->allocate(4 * taps.size());
  library->upload(x.get(), ones.data(), 4 * elements);
  library->upload(weight.get(), taps.data(), 4 * taps.size());

  conv.forward(problem, {.x = x.get(), .weight = weight.get(), .y = y.get()}, nullptr);

  const std::size_t bytes = strop::CausalConv1d::backward_workspace_bytes(problem);
  const auto workspace = library->allocate(bytes);
  const strop::CausalConv1dBackward gradient{.x = x.get(), .weight = weight.get(), .dy = y.get(), .dx = dx.get(), .dw = dw.get(),
                                             .workspace = workspace.get(), .workspace_bytes = bytes};
  const auto plan = conv.plan_backward(problem);  // a plan can be kept and launched again with nothing but launches
  plan->launch(gradient, nullptr);
  library->synchronize();

  float last = 0;
  library->download(&last, static_cast<float*>(y.get()) + elements - 1, sizeof last);
  const double expected = 1 / (1 + std::exp(-1.0));  // silu(4 * 0.25 * 1)
  std::printf("y[1,63,31] = %.6f, expected %.6f\n", last, expected);
  return std::fabs(last - expected) < 1e-5 ? 0 : 1;
}
