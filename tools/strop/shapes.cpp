#include "tools/strop/shapes.h"

#include <fmt/format.h>

#include "tools/strop/arguments.h"
#include "tools/strop/declaration.h"

namespace strop::cli {

void add_shapes(Declaration& subcommand, ShapeOptions& options, Needed needed) {
  const auto size = needed == Needed::yes ? &Declaration::required_option : &Declaration::option;
  subcommand.argument("OP", options.op, "the op, say causal_conv1d; `strop templates` lists them");
  subcommand.heading("Shapes (several with commas: every combination)");
  (subcommand.*size)("--B", options.B, "sequences a microbatch", "N,...");
  (subcommand.*size)("--T", options.T, "tokens a sequence", "N,...");
  (subcommand.*size)("--D", options.D, "channels", "N,...");
  subcommand.option("--W", options.W, "taps of the convolution", "N,...");
  subcommand.option("--dtype", options.dtype, "of activations: bf16, fp16 or fp32", "TYPE");
  subcommand.option("--wdtype", options.wdtype, "of weights: fp32, bf16 or fp16", "TYPE");
}

const ops::Op& op_of(const std::string& name) {
  if (const auto* op = ops::find(name)) return *op;
  std::vector<std::string> known;
  for (const auto* op : ops::all()) known.push_back(op->name());
  refuse_choice("op", name, known);
}

std::vector<ops::TrainingShape> shapes_of(const ShapeOptions& options) {
  const auto x_type = parse_float_type("--dtype", options.dtype);
  const auto weight_type = parse_float_type("--wdtype", options.wdtype);
  const auto B = parse_sizes("--B", options.B), T = parse_sizes("--T", options.T);
  const auto D = parse_sizes("--D", options.D), W = parse_sizes("--W", options.W);
  std::vector<ops::TrainingShape> shapes;
  for (const auto b : B) {
    for (const auto t : T) {
      for (const auto d : D) {
        for (const auto w : W) shapes.push_back({b, t, d, w, x_type, weight_type});
      }
    }
  }
  return shapes;
}

std::vector<WarmupItem> items_of(const ShapeOptions& options) {
  const auto& op = op_of(options.op);
  std::vector<WarmupItem> items;
  for (const auto& shape : shapes_of(options)) {
    if (const auto reason = op.why_unsupported(shape))
      // The command line alone shows it: no other machine would do it either.
      throw UsageError(
          fmt::format("{} B={} T={} D={} W={}: {}", op.name(), shape.B, shape.T, shape.D, shape.W, *reason));
    for (auto& item : op.items(shape)) items.push_back(std::move(item));
  }
  return items;
}

}  // namespace strop::cli
