#include "tools/strop/shapes.h"

#include <fmt/format.h>

#include "tools/strop/arguments.h"
#include "tools/strop/declaration.h"

namespace strop::cli {
namespace {

constexpr const char* kShapes = "Shapes (several with commas: every combination)";

// All that is not a size.
ops::TrainingShape contract_of(const ShapeOptions& options) {
  ops::TrainingShape shape;
  shape.x_type = parse_float_type("--dtype", options.dtype);
  shape.weight_type = parse_float_type("--wdtype", options.wdtype);
  shape.activation = parse_activation("--activation", options.activation);
  shape.bias = options.bias;
  shape.residual = options.residual;
  shape.initial_state = options.initial_state;
  shape.final_state = options.final_state;
  if (!options.packed.empty()) shape.packed_sequences = parse_size("--packed", options.packed);
  if (options.cu_seqlens.empty()) return shape;
  shape.cu_seqlens_type = parse_index_type("--cu-seqlens", options.cu_seqlens);
  if (options.packed.empty())
    throw UsageError("--cu-seqlens is the type of the bounds of packed sequences: it goes with --packed");
  return shape;
}

// The command line alone shows it: no other machine would do it either.
void require_supported(const ops::Op& op, const ops::TrainingShape& shape) {
  if (const auto reason = op.why_unsupported(shape))
    throw UsageError(fmt::format("{} B={} T={} D={} W={}: {}", op.name(), shape.B, shape.T, shape.D, shape.W, *reason));
}

void add_contract(Declaration& subcommand, ShapeOptions& options) {
  subcommand.heading("What the layer asks for (of all shapes)");
  subcommand.flag("--bias", options.bias, "a bias a channel");
  subcommand.option("--activation", options.activation, "silu (swish is another word for it) or none", "NAME");
  subcommand.option("--packed", options.packed,
                    "so many sequences one behind the other in x [1,T,D]: --B is 1, --T the tokens of all", "N");
  subcommand.option("--cu-seqlens", options.cu_seqlens,
                    "of the bounds of packed sequences: int32, unless given, or int64", "TYPE");
  subcommand.flag("--residual", options.residual, "a tensor like x is added to y");
  subcommand.flag("--initial-state", options.initial_state, "sequences begin with a state, which has a gradient");
  subcommand.flag("--final-state", options.final_state, "sequences leave a state, whose gradient flows back");
}

}  // namespace

void add_shapes(Declaration& subcommand, ShapeOptions& options, Needed needed) {
  const auto size = needed == Needed::yes ? &Declaration::required_option : &Declaration::option;
  subcommand.argument("OP", options.op, "the op, say causal_conv1d; `strop templates` lists them");
  subcommand.heading(kShapes);
  (subcommand.*size)("--B", options.B, "sequences a microbatch", "N,...");
  (subcommand.*size)("--T", options.T, "tokens a sequence", "N,...");
  (subcommand.*size)("--D", options.D, "channels", "N,...");
  subcommand.option("--W", options.W, "taps of the convolution", "N,...");
  subcommand.option("--dtype", options.dtype, "of activations: bf16, fp16 or fp32", "TYPE");
  subcommand.option("--wdtype", options.wdtype, "of weights: fp32, bf16 or fp16", "TYPE");
  add_contract(subcommand, options);
  subcommand.heading(kShapes);
}

const ops::Op& op_of(const std::string& name) {
  if (const auto* op = ops::find(name)) return *op;
  std::vector<std::string> known;
  for (const auto* op : ops::all()) known.push_back(op->name());
  refuse_choice("op", name, known);
}

std::vector<ops::TrainingShape> shapes_of(const ShapeOptions& options) {
  const auto& op = op_of(options.op);
  auto shape = contract_of(options);
  const auto B = parse_sizes("--B", options.B), T = parse_sizes("--T", options.T);
  const auto D = parse_sizes("--D", options.D), W = parse_sizes("--W", options.W);
  std::vector<ops::TrainingShape> shapes;
  for (const auto b : B) {
    for (const auto t : T) {
      for (const auto d : D) {
        for (const auto w : W) {
          shape.B = b;
          shape.T = t;
          shape.D = d;
          shape.W = w;
          require_supported(op, shape);
          shapes.push_back(shape);
        }
      }
    }
  }
  return shapes;
}

std::vector<WarmupItem> items_of(const ShapeOptions& options) {
  const auto& op = op_of(options.op);
  std::vector<WarmupItem> items;
  for (const auto& shape : shapes_of(options)) {
    for (auto& item : op.items(shape)) items.push_back(std::move(item));
  }
  return items;
}

}  // namespace strop::cli
