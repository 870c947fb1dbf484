#include "tests/support/scale_kernel.h"

namespace strop::test {
namespace {

constexpr const char* kMain = R"(#pragma once
#include "common/types.cuh"
#include "scale/parts.cuh"

namespace scale {

struct Args {
  const float* x;
  float* y;
  long long n;
};

struct Params {
  static constexpr int threads = 32;
  static constexpr int factor = 2;
  static constexpr bool square = false;
  static constexpr Step step = Step::small;
  static constexpr long long offset = 0;
};

template <class P>
__device__ void run(const Args& args) {
  STROP_SHARED(float, tile, P::threads);
  const long long i = static_cast<long long>(blockIdx.x) * P::threads + threadIdx.x;
  tile[threadIdx.x] = i < args.n ? args.x[i] : 0.0f;
  __syncthreads();
  const float value = tile[P::threads - 1 - threadIdx.x] * P::factor + static_cast<float>(P::offset);
  if (i < args.n) args.y[i] = P::square ? value * value : value + static_cast<int>(P::step);
}

}  // namespace scale
)";

constexpr const char* kParts = R"(#pragma once
/* Not an include:
#include "scale/nowhere.cuh"
*/
namespace scale {
enum class Step : int { small = 1, large = 16 };
}
)";

}  // namespace

const KernelTemplate& scale_kernel() {
  static const KernelTemplate kernel{.name = "scale",
                                     .file = "scale/main.cuh",
                                     .function = "scale::run",
                                     .params = "scale::Params",
                                     .args = "scale::Args",
                                     .args_size = 24,
                                     .sources = {{"scale/main.cuh", kMain}, {"scale/parts.cuh", kParts}}};
  return kernel;
}

jit::CompileRequest scale_request(const KernelTemplate& kernel, const std::string& target, const Config& values) {
  jit::CompileRequest request{&kernel, {}, values, target};
  request.config.set("threads", 64);
  return request;
}

}  // namespace strop::test
