#pragma once

// A validated problem with its strides filled in, and the facts of it that the device code can use. Plain values.

#include "src/ops/causal_conv1d/args.h"
#include "strop/causal_conv1d.h"

namespace strop::ops {

enum class Direction { forward, backward };

inline constexpr std::int64_t kUnitRows = 128;  // of the sums of dw; templates/causal_conv1d/bwd.cuh
inline constexpr std::int64_t kMaxTaps = 8;
// Elements of x from which on partials are pairs of units: blocks enough for every GPU when each has two, and traffic that counts.
inline constexpr std::int64_t kPairedElements = std::int64_t{1} << 26;

struct ConvShape {
  CausalConv1dProblem problem;
  RowStrides x, y, dy, dx, residual;
  StateStrides initial, final, d_initial;
  std::int64_t weight_channel = 0, weight_tap = 0;
  // A partial of dw is the sum of two units. Set by the size of the problem alone, never by the config or the device: it is a part
  // of the order of summation.
  bool paired = false;

  std::int64_t all_units() const { return empty() ? 0 : problem.B * units(); }
  std::int64_t partials() const { return paired ? (all_units() + 1) / 2 : all_units(); }
  std::int64_t units() const { return (problem.T + kUnitRows - 1) / kUnitRows; }  // a sequence
  std::int64_t sums() const { return problem.W + (problem.bias ? 1 : 0); }        // rows of a unit
  bool packed() const { return problem.packed_sequences > 0; }
  std::int64_t sequences() const { return packed() ? problem.packed_sequences : problem.B; }  // N of the states
  bool has_states() const { return sequences() > 0 && problem.D > 0; }
  bool empty() const { return problem.B == 0 || problem.T == 0 || problem.D == 0; }
  // Packed lengths vary from step to step: they all run the code that tests its rows.
  bool whole_blocks() const { return !packed() && problem.T % kUnitRows == 0; }
  // The widest vector of channels, 1 to 8 and at most 16 bytes, that every row of every tensor of the direction allows.
  int max_vec(Direction direction) const;
  // All taps of a channel in one aligned transaction.
  bool packed_taps() const;
};

// Strides of {0,0,0} become dense ones.
ConvShape make_shape(const CausalConv1dProblem& problem);

// Elements of storage from the first to the last that a tensor of [B,T,D] with these strides touches.
std::int64_t extent(const CausalConv1dProblem& problem, const RowStrides& strides);
// Likewise for states [N,D,W].
std::int64_t state_extent(const ConvShape& shape, const StateStrides& strides);

// The parts of the args structs that all kernels share, without pointers.
ConvSequences sequences_of(const ConvShape& shape);

}  // namespace strop::ops
