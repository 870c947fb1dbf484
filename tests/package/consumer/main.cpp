// Uses the library as its users do: public headers only, strop::strop and nothing else on the link line. Runs a real
// convolution on the host device, with the default config, compiled on the spot.

#include <cmath>
#include <iostream>
#include <vector>

#include "strop/strop.h"

int main() {
  strop::Options options;
  options.device = "host";
  options.cache_path = ":memory:";
  options.on_miss = strop::MissPolicy::nearest;
  strop::CausalConv1d conv(strop::Library::open(options));

  strop::CausalConv1dProblem problem;
  problem.B = 1, problem.T = 3, problem.D = 2, problem.W = 2;
  problem.x_type = strop::DType::fp32;
  problem.activation = strop::Activation::none;
  const std::vector<float> x{1, 2, 3, 4, 5, 6};   // [T,D]
  const std::vector<float> weight{10, 1, 20, 2};  // [D,W]; the last tap is the present
  std::vector<float> y(6, -1);
  strop::CausalConv1dForward tensors;
  tensors.x = x.data(), tensors.weight = weight.data(), tensors.y = y.data();
  conv.forward(problem, tensors, nullptr);

  const std::vector<float> expected{1, 4, 10 + 3, 40 + 8, 30 + 5, 80 + 12};
  for (std::size_t i = 0; i < y.size(); ++i) {
    std::cout << y[i] << " ";
    if (std::abs(y[i] - expected[i]) > 1e-5f) {
      std::cerr << "y[" << i << "] is " << y[i] << " instead of " << expected[i] << "\n";
      return 1;
    }
  }
  std::cout << "\n";
}
