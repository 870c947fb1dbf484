#pragma once

// A validated problem with its strides filled in, and the facts of it that the device code can use. Plain values.

#include "src/ops/causal_conv1d/args.h"
#include "strop/causal_conv1d.h"

namespace strop::ops {

enum class Direction { forward, backward };

inline constexpr std::int64_t kUnitRows = 128;  // of the sums of dw; templates/causal_conv1d/bwd.cuh
inline constexpr std::int64_t kSegmentRows = 32;  // of which a unit has four
inline constexpr std::int64_t kMaxTaps = 8;

struct ConvShape {
  CausalConv1dProblem problem;
  RowStrides x, y, dy, dx, residual;
  StateStrides initial, final, d_initial;
  std::int64_t weight_channel = 0, weight_tap = 0;
  // A piece of the sums of dw is 2^level units of its sequence; a partial is one piece or, paired, two. Set by the size of the problem
  // alone, never by the config or the device: it is a part of the order of summation. Of middle problems few large pieces are soon added
  // by the reduction, which nothing overlaps; small ones need all the blocks they can have; large ones have tiles that are short and
  // wide, and a second piece to halve the traffic of partials. docs/performance-log.md has the times.
  int level = 0;
  bool paired = false;

  std::int64_t piece_rows() const { return kUnitRows << level; }
  std::int64_t pieces_of_sequence() const { return (problem.T + piece_rows() - 1) / piece_rows(); }
  std::int64_t pieces() const { return empty() ? 0 : problem.B * pieces_of_sequence(); }
  std::int64_t partials() const { return paired ? (pieces() + 1) / 2 : pieces(); }
  std::int64_t sums() const { return problem.W + (problem.bias ? 1 : 0); }        // rows of a partial
  bool packed() const { return problem.packed_sequences > 0; }
  std::int64_t sequences() const { return packed() ? problem.packed_sequences : problem.B; }  // N of the states
  bool has_states() const { return sequences() > 0 && problem.D > 0; }
  bool empty() const { return problem.B == 0 || problem.T == 0 || problem.D == 0; }
  // Packed lengths vary from step to step: they all run the code that tests its rows.
  bool whole_blocks(Direction direction) const {
    return !packed() && problem.T % (direction == Direction::forward ? kUnitRows : piece_rows()) == 0;
  }
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
