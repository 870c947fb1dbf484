#include "tests/support/planted_kernel.h"

#include <algorithm>
#include <cstring>

namespace strop::test {
namespace {

constexpr const char* kTemplate = R"(
#pragma once
#include "common/types.cuh"

struct PlantedArgs { float* x; float* y; long long n; };
struct PlantedParams { static constexpr int plant = 0, threads = 64; };

#ifdef STROP_SIDE_HOST
static int planted_calls = 0;
#else
__device__ int planted_calls = 0;
#endif

template <class P> __device__ void planted(const PlantedArgs& a) {
  static_assert(P::plant != 3, "planted: does not compile");
  STROP_SHARED(float, slots, P::threads);
  const long long i = static_cast<long long>(blockIdx.x) * P::threads + threadIdx.x;
  const bool inside = i < a.n;
  float value = inside ? 2.0f * a.x[i] : 0.0f;
  if (P::plant == 4) {
    slots[threadIdx.x] = value;
    const int neighbour = (threadIdx.x + 33) % P::threads;
    value = slots[neighbour] * 0.0f + value;
    if (slots[neighbour] != slots[neighbour]) value = slots[neighbour];
  }
  if (P::plant == 5) {
    if (i == 0) planted_calls = planted_calls + 1;
    if (i == 0) value = __uint_as_float(__float_as_uint(value) ^ (planted_calls & 1));
  }
  if (P::plant == 8) __trap();
#ifndef STROP_SIDE_HOST
  if (P::plant == 9) {
    const long long begin = clock64();
    while (clock64() - begin < 28000000000ll) {
    }
  }
#endif
  const long long end = P::plant == 1 ? a.n - 1 : a.n;
  if (inside && i < end) a.y[i] = value;
  if (P::plant == 2 && i == a.n - 1) a.y[a.n] = 1.0f;
  if (P::plant == 6 && i == 0) a.x[0] = 7.0f;
}
)";

struct Args {
  void* x;
  void* y;
  long long n;
};

}  // namespace

Kernel planted_kernel(std::vector<std::int64_t> plants) {
  if (std::find(plants.begin(), plants.end(), kRight) == plants.end()) plants.insert(plants.begin(), kRight);
  Kernel kernel;
  kernel.source.name = "planted";
  kernel.source.file = "planted.cuh";
  kernel.source.function = "planted";
  kernel.source.params = "PlantedParams";
  kernel.source.args = "PlantedArgs";
  kernel.source.args_size = sizeof(Args);
  kernel.source.sources["planted.cuh"] = kTemplate;
  kernel.space.parameter("threads", {64, 32, 128}).parameter("plant", std::move(plants));
  kernel.space.restrict("a planted fault has one size", [](const Config& c, const Config&, const DeviceFacts&) {
    return c["plant"] == kRight || c["threads"] == 64;
  });
  kernel.space.fallback({{"threads", 64}, {"plant", kRight}});
  return kernel;
}

Key PlantedProblem::key() const {
  Key key;
  key.add("n", n_).add("dtype", "fp32");
  return key;
}

LaunchGeometry PlantedProblem::geometry(const Config& config) const {
  LaunchGeometry geometry;
  geometry.block.x = static_cast<unsigned>(config["threads"]);
  geometry.grid.x = static_cast<unsigned>((n_ + config["threads"] - 1) / config["threads"]);
  if (config["plant"] == kTooMuchShared) geometry.dynamic_shared = 1U << 30;
  return geometry;
}

std::vector<TensorSpec> PlantedProblem::tensors() const {
  TensorSpec x;
  x.name = "x";
  x.elements = n_;
  TensorSpec y = x;
  y.name = "y";
  y.role = Role::output;
  y.tolerance = Tolerance::storage(DType::fp32);
  return {x, y};
}

std::vector<std::byte> PlantedProblem::arguments(const Config&, std::span<void* const> pointers) const {
  const Args args{pointers[0], pointers[1], n_};
  std::vector<std::byte> bytes(sizeof args);
  std::memcpy(bytes.data(), &args, sizeof args);
  return bytes;
}

void PlantedProblem::reference(const std::vector<std::vector<double>>& in, std::vector<std::vector<double>>& out) const {
  std::transform(in[0].begin(), in[0].end(), out[1].begin(), [](double x) { return 2 * x; });
}

}  // namespace strop::test
