#include "src/ops/causal_conv1d/kernels.h"

#include "src/ops/causal_conv1d/args.h"
#include "src/ops/causal_conv1d/common_problem.h"
#include "src/ops/causal_conv1d/shape.h"

namespace strop::ops {
namespace {

KernelTemplate source(const std::string& part, const std::string& type, std::size_t args_size) {
  KernelTemplate source;
  source.name = "causal_conv1d_" + part;
  source.file = "causal_conv1d/" + part + ".cuh";
  source.function = "strop::causal_conv1d_" + part;
  source.params = "strop::CausalConv1d" + type + "Params";
  source.args = "strop::CausalConv1d" + type + "Args";
  source.args_size = args_size;
  return source;
}

// `max_vec` is a fact of the layout, known to the template as a constant that it does not use.
void restrict_vec(Space& space, const Config& fallback) {
  space.restrict("the layout allows vectors of this width",
                 [](const Config& c, const Config& k, const DeviceFacts&) { return c["vec"] <= k["max_vec"]; });
  space.restrict("vectors far narrower than the layout allows never win", [fallback](const Config& c, const Config& k, const DeviceFacts&) {
    return c["vec"] * 4 >= k["max_vec"] || c == fallback;
  });
}

Kernel make_fwd() {
  const Config fallback{{"vec", 1}, {"rows", 16}, {"lanes", 32}, {"threads", 128}, {"min_blocks", 4}};
  Kernel kernel;
  kernel.source = source("fwd", "Fwd", sizeof(ConvFwdArgs));
  kernel.space.parameter("vec", {4, 2, 8, 1}).parameter("rows", {16, 8, 32}).parameter("threads", {128, 256});
  kernel.space.parameter("min_blocks", {4, 8, 5, 2}).launch_parameter("lanes", {32, 64});
  restrict_vec(kernel.space, fallback);
  kernel.space.restrict("16 to 64 elements a thread: fewer leave the memory idle, more leave no room for threads", [](const Config& c, const Config& k, const DeviceFacts&) {
    const int elements = c["vec"] * c["rows"];
    return elements <= 64 && (elements >= 16 || k["max_vec"] == 1);
  });
  // As many registers as the loads in flight need, or as few as ptxas can do with without spilling.
  kernel.space.restrict("512 threads a multiprocessor, in small blocks also 640 of 64 elements or 1024 of 32, where those don't spill", [](const Config& c, const Config&, const DeviceFacts&) {
    const auto threads = c["min_blocks"] * c["threads"];
    const auto elements = c["vec"] * c["rows"];
    if (c["threads"] == 256) return threads == 512 && elements == 64;
    return threads == 512 || (threads == 640 && elements == 64 && c["vec"] <= 4) || (threads == 1024 && elements == 32);
  });
  kernel.space.restrict("a block's rows divide a unit of 128", [](const Config& c, const Config&, const DeviceFacts&) {
    return std::int64_t{c["threads"] / c["lanes"]} * c["rows"] <= kUnitRows;
  });
  kernel.space.fallback(fallback);
  return kernel;
}

int bytes_a_row(const Config& c, const Config& k) { return c["vec"] * static_cast<int>(size_of(static_cast<DType>(k["x_type"]))); }

void restrict_staging(Space& space) {
  space.restrict("cp.async copies at least 4 bytes", [](const Config& c, const Config& k, const DeviceFacts&) {
    return c["staging"] != kRing || bytes_a_row(c, k) >= 4;
  });
  space.restrict("a tile is copied in 16 bytes", [](const Config& c, const Config& k, const DeviceFacts&) {
    return c["staging"] != kTile || k["max_vec"] * static_cast<int>(size_of(static_cast<DType>(k["x_type"]))) == 16;
  });
  space.restrict("a tile's block is four warps, whose threads have a segment each", [](const Config& c, const Config& k, const DeviceFacts&) {
    return c["staging"] != kTile || (c["strips"] == 4 && c["threads"] == 128 && c["vec"] >= 2 && k["level"] <= 2);
  });
  space.restrict("tiles fill the shared memory of a multiprocessor", [](const Config& c, const Config& k, const DeviceFacts& device) {
    if (c["staging"] != kTile) return true;
    const int bytes = backward_shared(c, k);
    const int fit = static_cast<int>(device.shared_per_sm) / (bytes + 1024);
    return bytes <= static_cast<int>(device.shared_per_block) && c["min_blocks"] <= fit && (c["min_blocks"] * 2 > fit || c["min_blocks"] == 4);
  });
}

Kernel make_bwd() {
  const Config fallback{{"staging", kRegisters}, {"vec", 1}, {"strips", 4}, {"threads", 128}, {"min_blocks", 4}};
  Kernel kernel;
  kernel.source = source("bwd", "Bwd", sizeof(ConvBwdArgs));
  kernel.space.parameter("staging", {kTile, kRing, kRegisters})
      .parameter("vec", {4, 2, 1})
      .parameter("strips", {4, 2, 8})
      .parameter("threads", {128, 64, 256})
      .parameter("min_blocks", {4, 8, 3, 2, 1});
  restrict_vec(kernel.space, fallback);
  restrict_staging(kernel.space);
  kernel.space.restrict("a warp looks for its sequence together", [](const Config& c, const Config& k, const DeviceFacts&) {
    return k["packed"] == 0 || c["threads"] / c["strips"] >= 32;
  });
  kernel.space.restrict("a strip is of 32 to 512 rows", [](const Config& c, const Config& k, const DeviceFacts&) {
    const auto rows = (kUnitRows << k["level"]) / c["strips"];
    return c["staging"] == kTile || (rows >= 32 && rows <= 512);
  });
  kernel.space.restrict("a row of a block is at least two sectors", [](const Config& c, const Config& k, const DeviceFacts&) {
    return backward_lanes(c, k["level"]) * bytes_a_row(c, k) >= 64;
  });
  kernel.space.restrict("512 threads a multiprocessor, 256 for the rings of wide kernels: the registers that needs",
                        [](const Config& c, const Config& k, const DeviceFacts&) {
                          return c["staging"] == kTile || c["min_blocks"] * c["threads"] == (k["W"] <= 4 || c["vec"] == 1 ? 512 : 256);
                        });
  kernel.space.restrict("the shared memory of a block's share of a multiprocessor", [](const Config& c, const Config& k, const DeviceFacts& device) {
    if (c["staging"] == kTile) return true;
    const int bytes = backward_shared(c, k);
    return bytes <= static_cast<int>(device.shared_per_block) && c["min_blocks"] * (bytes + 1024) <= static_cast<int>(device.shared_per_sm);
  });
  kernel.space.restrict("the rings of wide kernels fit in registers",
                        [](const Config& c, const Config& k, const DeviceFacts&) { return k["W"] <= 4 || c["vec"] <= 2; });
  kernel.space.fallback(fallback);
  return kernel;
}

Kernel make_dw_reduce() {
  Kernel kernel;
  kernel.source = source("dw_reduce", "DwReduce", sizeof(ConvDwReduceArgs));
  kernel.space.parameter("vec", {4, 2, 1}).parameter("split", {32, 16, 8, 4}).launch_parameter("block", {256, 128, 512});
  kernel.space.restrict("vectors divide the channels", [](const Config& c, const Config& k, const DeviceFacts&) { return k["D"] % c["vec"] == 0; });
  kernel.space.restrict("a block reads at least one sector a row",
                        [](const Config& c, const Config&, const DeviceFacts&) { return c["block"] / c["split"] * c["vec"] >= 8; });
  kernel.space.fallback({{"vec", 1}, {"split", 8}, {"block", 256}});
  return kernel;
}

Kernel make_final_state() {
  Kernel kernel;
  kernel.source = source("final_state", "FinalState", sizeof(ConvFinalStateArgs));
  kernel.space.launch_parameter("block", {128, 64, 256});
  kernel.space.fallback({{"block", 128}});
  return kernel;
}

Kernel make_state_bwd() {
  Kernel kernel;
  kernel.source = source("state_bwd", "StateBwd", sizeof(ConvStateBwdArgs));
  kernel.space.launch_parameter("block", {128, 64, 256});
  kernel.space.fallback({{"block", 128}});
  return kernel;
}

}  // namespace

const Kernel& conv_final_state_kernel() {
  static const Kernel kernel = make_final_state();
  return kernel;
}

const Kernel& conv_state_bwd_kernel() {
  static const Kernel kernel = make_state_bwd();
  return kernel;
}

const Kernel& conv_fwd_kernel() {
  static const Kernel kernel = make_fwd();
  return kernel;
}

const Kernel& conv_bwd_kernel() {
  static const Kernel kernel = make_bwd();
  return kernel;
}

const Kernel& conv_dw_reduce_kernel() {
  static const Kernel kernel = make_dw_reduce();
  return kernel;
}

}  // namespace strop::ops
