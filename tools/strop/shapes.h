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
};

// Whether the parser asks for --B, --T and --D.
enum class Needed { yes, no };
void add_shapes(Declaration& subcommand, ShapeOptions& options, Needed needed = Needed::yes);

// Every combination of the sizes. UsageError for an unknown op or a bad number.
std::vector<ops::TrainingShape> shapes_of(const ShapeOptions& options);
const ops::Op& op_of(const std::string& name);
// The keys of all shapes. Throws Unsupported with the op's reason.
std::vector<WarmupItem> items_of(const ShapeOptions& options);

}  // namespace strop::cli
