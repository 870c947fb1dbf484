// A user's own kernel on the public API: RMSNorm over rows of bf16, tuned, checked and cached like strop's own ops.
//     y[r,c] = x[r,c] * weight[c] / sqrt(mean_c(x[r,c]^2) + eps)
// example_rms_norm [rows columns]

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "strop/strop.h"

// ---- the device side: one block a row, `threads` wide, `vec` channels a load ------------------------------------------------
static const char* const kTemplate = R"(
#pragma once
#include "common/memory.cuh"
#include "common/warp.cuh"

struct RmsNormArgs { const strop::bf16* x; const float* weight; strop::bf16* y; float eps; };
struct RmsNormParams { static constexpr int columns = 1024, threads = 128, vec = 4; };

template <class P> __device__ void rms_norm(const RmsNormArgs& a) {
  STROP_SHARED(float, partial, 32);
  const strop::i64 row = static_cast<strop::i64>(blockIdx.x) * P::columns;
  float sum = 0, in[P::vec], scale[P::vec];
  for (int c = threadIdx.x * P::vec; c < P::columns; c += P::threads * P::vec) {
    strop::load(in, a.x + row + c);
    for (int i = 0; i < P::vec; ++i) sum = fmaf(in[i], in[i], sum);
  }
  sum = strop::warp_sum(sum);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
  __syncthreads();
  float total = 0;
  for (int w = 0; w < P::threads / 32; ++w) total += partial[w];
  const float inverse = 1.0f / sqrtf(total / P::columns + a.eps);
  for (int c = threadIdx.x * P::vec; c < P::columns; c += P::threads * P::vec) {
    strop::load(in, a.x + row + c);
    strop::load(scale, a.weight + c);
    for (int i = 0; i < P::vec; ++i) in[i] *= inverse * scale[i];
    strop::store(a.y + row + c, in);
  }
}
)";

// ---- the host side: space, key, geometry, reference ----------------------------------------------------------------------
struct RmsNormArgs { const void* x; const void* weight; void* y; float eps; };

static strop::Kernel rms_norm_kernel() {
  strop::Kernel kernel;
  kernel.source = {.name = "rms_norm", .file = "rms_norm.cuh", .function = "rms_norm", .params = "RmsNormParams",
                   .args = "RmsNormArgs", .args_size = sizeof(RmsNormArgs), .sources = {{"rms_norm.cuh", kTemplate}}};
  kernel.space.parameter("threads", {64, 128, 256, 512}).parameter("vec", {1, 2, 4, 8});
  kernel.space.restrict("vec divides the columns", [](const strop::Config& c, const strop::Config& k, const strop::DeviceFacts&) {
    return k["columns"] % c["vec"] == 0;
  });
  kernel.space.fallback({{"threads", 128}, {"vec", 1}});
  return kernel;
}

class RmsNorm : public strop::KernelProblem {
 public:
  RmsNorm(std::int64_t rows, std::int64_t columns) : rows_(rows), columns_(columns) {}
  strop::Key key() const override { return strop::Key().add("rows", rows_).add("columns", columns_).add("dtype", "bf16"); }
  strop::Config constants() const override { return {{"columns", columns_}}; }
  strop::LaunchGeometry geometry(const strop::Config& c) const override {
    return {.grid = {static_cast<unsigned>(rows_)}, .block = {static_cast<unsigned>(c["threads"])}};
  }
  std::vector<strop::TensorSpec> tensors() const override {
    return {{.name = "x", .type = strop::DType::bf16, .elements = rows_ * columns_},
            {.name = "weight", .elements = columns_},
            {.name = "y", .type = strop::DType::bf16, .elements = rows_ * columns_, .role = strop::Role::output,
             .tolerance = strop::Tolerance::storage(strop::DType::bf16)}};
  }
  std::vector<std::byte> arguments(const strop::Config&, std::span<void* const> p) const override {
    const RmsNormArgs args{p[0], p[1], p[2], 1e-6F};
    std::vector<std::byte> bytes(sizeof args);
    std::memcpy(bytes.data(), &args, sizeof args);
    return bytes;
  }
  void reference(const std::vector<std::vector<double>>& in, std::vector<std::vector<double>>& out) const override {
    for (std::int64_t r = 0; r < rows_; ++r) {
      const double* x = in[0].data() + r * columns_;
      double sum = 0;
      for (std::int64_t c = 0; c < columns_; ++c) sum += x[c] * x[c];
      const double inverse = 1 / std::sqrt(sum / static_cast<double>(columns_) + 1e-6);
      for (std::int64_t c = 0; c < columns_; ++c) out[2][r * columns_ + c] = x[c] * inverse * in[1][c];
    }
  }
  std::unique_ptr<strop::KernelProblem> check_problem() const override { return std::make_unique<RmsNorm>(5, columns_); }
  double bytes_moved() const override { return 4.0 * static_cast<double>(rows_ * columns_); }

 private:
  std::int64_t rows_, columns_;
};

int main(int argc, char** argv) {
  const std::int64_t rows = argc > 2 ? std::atoll(argv[1]) : 256;
  const std::int64_t columns = argc > 2 ? std::atoll(argv[2]) : 1024;
  const auto library = strop::Library::open();
  const auto kernel = rms_norm_kernel();
  const auto problem = std::make_shared<RmsNorm>(rows, columns);
  const strop::WarmupItem item{&kernel, problem};
  const auto report = library->warmup({&item, 1});
  const auto& key = report.keys.front();
  std::printf("%s on %s: %s, winner %s, %.2f us, %d compiles, %d timings\n", key.key.str().c_str(), report.device.c_str(),
              std::string(name(key.outcome)).c_str(), key.winner->str().c_str(), key.time.median_us, report.compiles, report.timings);
  const auto prepared = library->prepare(kernel, *problem);  // keep it; launching it is nothing but a launch
  const auto x = library->allocate(2 * rows * columns), w = library->allocate(4 * columns), y = library->allocate(2 * rows * columns);
  const std::vector<std::uint16_t> ones(rows * columns, 0x3f80);  // 1.0 in bf16
  const std::vector<float> weight(columns, 2.0F);
  library->upload(x.get(), ones.data(), 2 * ones.size());
  library->upload(w.get(), weight.data(), 4 * weight.size());
  const RmsNormArgs args{x.get(), w.get(), y.get(), 1e-6F};
  prepared->launch(&args, sizeof args, nullptr);
  library->synchronize();
  std::uint16_t first = 0;
  library->download(&first, y.get(), sizeof first);
  std::printf("y[0,0] = 0x%04x (2.0 is 0x4000)\n", first);
  return first == 0x4000 ? 0 : 1;
}
