#pragma once

// What the problems of forward and backward say alike.

#include <cstring>

#include "src/ops/causal_conv1d/shape.h"
#include "strop/kernel.h"

namespace strop::ops {

// B, T, D, W, then the classes: what the code can tell apart.
Key conv_key(const ConvShape& shape, Direction direction);
Config conv_constants(const ConvShape& shape, Direction direction);
// What packed sequences and states add to them.
void add_sequence_classes(const ConvShape& shape, Key& key);
void add_sequence_constants(const ConvShape& shape, Config& constants);
// How a config divides the tensors into blocks.
struct Tiling {
  std::int64_t lanes = 0;     // threads side by side along the channels
  std::int64_t rows = 0;      // of one thread
  std::int64_t blocks_d = 0;
  std::int64_t blocks_t = 0;  // a sequence
};
Tiling tiling(const ConvShape& shape, const Config& config, Direction direction);
// The backward's `staging`; templates/causal_conv1d/bwd_rows.cuh.
inline constexpr int kRegisters = 0, kRing = 1, kTile = 2;
// Bytes of shared memory of a block of the backward: rows of x and dy, and where its sums meet.
int backward_shared(const Config& config, const Config& constants);
// Threads of a block of the backward side by side along the channels; a tile's have a segment each.
std::int64_t backward_lanes(const Config& config, std::int64_t level);
// Blocks in memory order on grid x.
LaunchGeometry conv_geometry(const ConvShape& shape, const Config& config, Direction direction);
// Same class, small: a few pieces of rows, up to two sequences, the same strides between rows.
ConvShape small_shape(const ConvShape& shape, Direction direction);

TensorSpec row_tensor(const std::string& name, const ConvShape& shape, const RowStrides& strides, Role role);
// States [N,D,W]; without elements unless `there`.
TensorSpec state_tensor(const std::string& name, const ConvShape& shape, const StateStrides& strides, Role role, bool there);
// Bounds for a trial's packed sequences: long ones, and short and empty ones between them.
TensorSpec bounds_tensor(const ConvShape& shape);
TensorSpec weight_tensor(const ConvShape& shape);
TensorSpec bias_tensor(const ConvShape& shape);
// Bytes past a 256-byte boundary that give just the problem's alignment.
std::size_t misalignment(const ConvShape& shape, DType type);

template <class Args>
std::vector<std::byte> bytes_of_args(const Args& args) {
  std::vector<std::byte> bytes(sizeof args);
  std::memcpy(bytes.data(), &args, sizeof args);
  return bytes;
}

}  // namespace strop::ops
