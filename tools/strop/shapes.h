#pragma once

// An op and the shapes of a job, as `warmup` and `bench` take them.

#include <string>
#include <vector>

#include "src/ops/op.h"
#include "tools/strop/command.h"

namespace strop::cli {

struct ShapeOptions {
  std::string op;
  std::string B, T, D, W = "4";
  std::string dtype = "bf16";
  std::string wdtype = "fp32";
  // What the layer asks for, of all shapes alike.
  bool bias = false;
  std::string activation = "silu";
  std::string packed;      // a number of sequences; empty: not packed
  std::string cu_seqlens;  // empty: int32
  bool residual = false;
  bool initial_state = false;
  bool final_state = false;

  friend bool operator==(const ShapeOptions&, const ShapeOptions&) = default;
};

// Whether the parser asks for --B, --T and --D.
enum class Needed { yes, no };
void add_shapes(Declaration& subcommand, ShapeOptions& options, Needed needed = Needed::yes);

// Every combination of the sizes. UsageError for an unknown op, a bad value, or a shape that the op refuses, with its
// reason.
std::vector<ops::TrainingShape> shapes_of(const ShapeOptions& options);
const ops::Op& op_of(const std::string& name);
// The keys of all shapes.
std::vector<WarmupItem> items_of(const ShapeOptions& options);

}  // namespace strop::cli
