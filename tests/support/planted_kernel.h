#pragma once

// A kernel for tests whose candidates are right or wrong on purpose: y[i] = 2 * x[i], with the tunable `plant` saying what is wrong.

#include <memory>

#include "strop/kernel.h"

namespace strop::test {

enum Plant {
  kRight = 0,
  kWrong = 1,            // leaves the last element as it was
  kWritesOutside = 2,    // one element past the end of y
  kDoesNotCompile = 3,
  kRacy = 4,             // reads a neighbour's shared slot without a barrier
  kNotReproducible = 5,  // a last bit that counts calls
  kChangesInput = 6,
  kTooMuchShared = 7,    // asks for more shared memory than any device has
  kTraps = 8,            // ends the context on a GPU: only for tests that expect it
  kHangs = 9,            // likewise: runs some fifteen seconds
};

// `plants` are the values of the tunable; kRight with `threads` 32, 64 and 128 are always candidates.
Kernel planted_kernel(std::vector<std::int64_t> plants);

class PlantedProblem : public KernelProblem {
 public:
  explicit PlantedProblem(std::int64_t n) : n_(n) {}
  Key key() const override;
  Config constants() const override { return {}; }
  LaunchGeometry geometry(const Config& config) const override;
  std::vector<TensorSpec> tensors() const override;
  std::vector<std::byte> arguments(const Config& config, std::span<void* const> pointers) const override;
  void reference(const std::vector<std::vector<double>>& in, std::vector<std::vector<double>>& out) const override;
  std::unique_ptr<KernelProblem> check_problem() const override { return std::make_unique<PlantedProblem>(std::min<std::int64_t>(n_, 1000)); }
  double bytes_moved() const override { return 8.0 * static_cast<double>(n_); }

 private:
  std::int64_t n_;
};

}  // namespace strop::test
