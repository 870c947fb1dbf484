// Matrix products, on integers so small that every sum is exact in any order, and the loads that feed them.

#include <string>

#include "tests/gpu/wrapper_cases.h"

namespace strop::conformance {
namespace {

using Words = std::vector<std::uint32_t>;

// A small integer as bf16 or fp16.
std::uint32_t element(int v, bool half) {
  const float f = static_cast<float>(v);
  const std::uint32_t bits = bits_of(f);
  if (!half) return bits >> 16;
  if (v == 0) return 0;
  return (bits >> 16 & 0x8000u) | ((((bits & 0x7fffffffu) >> 13)) - (112u << 10));
}

// Seeded integers from -4 to 4.
std::vector<int> small(std::size_t n, std::uint32_t seed) {
  std::vector<int> values;
  for (const std::uint32_t word : random_words(n, 9, seed)) values.push_back(static_cast<int>(word) - 4);
  return values;
}

WrapperCase multiply_case(bool half) {
  WrapperCase c{.name = half ? "mma_fp16" : "mma_bf16",
                .file = "wrappers/matrix.cuh",
                .function = "matrix",
                .params = "MatrixParams",
                .config = {{"threads", 32}, {"half", half}}};
  const std::vector<int> a = small(16 * 32, 12), b = small(32 * 8, 13), d = small(16 * 8, 14);  // A [16][32], B [32][8]
  auto pair = [&](int low, int high) { return element(low, half) | element(high, half) << 16; };
  auto at_a = [&](int row, int k) { return a[static_cast<std::size_t>(row * 32 + k)]; };
  auto at_b = [&](int k, int column) { return b[static_cast<std::size_t>(k * 8 + column)]; };
  for (int lane = 0; lane < 32; ++lane) {
    const int row = lane / 4, k = lane % 4 * 2;
    for (int step = 0; step < 32; step += 16) {
      c.in.push_back(pair(at_a(row, step + k), at_a(row, step + k + 1)));
      c.in.push_back(pair(at_a(row + 8, step + k), at_a(row + 8, step + k + 1)));
      c.in.push_back(pair(at_a(row, step + k + 8), at_a(row, step + k + 9)));
      c.in.push_back(pair(at_a(row + 8, step + k + 8), at_a(row + 8, step + k + 9)));
    }
    for (int step = 0; step < 32; step += 16) {
      c.in.push_back(pair(at_b(step + k, row), at_b(step + k + 1, row)));
      c.in.push_back(pair(at_b(step + k + 8, row), at_b(step + k + 9, row)));
    }
    for (int e = 0; e < 4; ++e) {
      const int r = row + e / 2 * 8, column = k + e % 2;
      int sum = d[static_cast<std::size_t>(r * 8 + column)];
      c.in.push_back(bits_of(static_cast<float>(sum)));
      for (int i = 0; i < 32; ++i) sum += at_a(r, i) * at_b(i, column);
      c.expected.push_back(bits_of(static_cast<float>(sum)));
    }
  }
  return c;
}

WrapperCase load_case(int matrices, bool transposed) {
  WrapperCase c{.name = "ldmatrix_x" + std::to_string(matrices) + (transposed ? "_transposed" : ""),
                .file = "wrappers/matrix.cuh",
                .function = "matrix_load",
                .params = "LdmatrixParams",
                .config = {{"threads", 32}, {"matrices", matrices}, {"transposed", transposed}}};
  c.in = random_words(32 * 24, 0x10000, 15);
  auto at = [&](int matrix, int row, int column) {
    return c.in[static_cast<std::size_t>((matrix * 8 + row) * 24 + column)];
  };
  for (int lane = 0; lane < 32; ++lane) {
    const int row = lane / 4, column = lane % 4 * 2;
    for (int m = 0; m < matrices; ++m)
      c.expected.push_back(transposed ? at(m, column, row) | at(m, column + 1, row) << 16
                                      : at(m, row, column) | at(m, row, column + 1) << 16);
  }
  return c;
}

WrapperCase warpgroup_case(bool half) {
  WrapperCase c{.name = half ? "wgmma_fp16" : "wgmma_bf16",
                .file = "wrappers/matrix.cuh",
                .function = "warpgroup_matrix",
                .params = "WgmmaParams",
                .config = {{"threads", 128}, {"half", half}},
                .needs_sm = 90,
                .needs_exact_chip = true};
  const std::vector<int> a = small(64 * 32, 16), b = small(8 * 32, 17);
  for (const int v : a) c.in.push_back(element(v, half));
  for (const int v : b) c.in.push_back(element(v, half));
  for (std::size_t row = 0; row < 64; ++row) {
    for (std::size_t column = 0; column < 8; ++column) {
      int sum = 0;
      for (std::size_t k = 0; k < 32; ++k) sum += a[row * 32 + k] * b[column * 32 + k];
      c.expected.push_back(bits_of(static_cast<float>(sum)));
    }
  }
  return c;
}

}  // namespace

std::vector<WrapperCase> matrix_cases() {
  std::vector<WrapperCase> cases;
  for (const bool half : {false, true}) {
    cases.push_back(multiply_case(half));
    cases.push_back(warpgroup_case(half));
  }
  for (const int matrices : {1, 2, 4})
    for (const bool transposed : {false, true}) cases.push_back(load_case(matrices, transposed));
  return cases;
}

}  // namespace strop::conformance
