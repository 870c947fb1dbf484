#include "src/ops/causal_conv1d/kernels.h"

#include "src/ops/causal_conv1d/args.h"
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
  kernel.space.parameter("min_blocks", {4, 2, 1}).launch_parameter("lanes", {32, 64});
  restrict_vec(kernel.space, fallback);
  kernel.space.restrict("16 to 128 elements a thread, 64 in wide vectors: fewer leave the memory idle, more spill", [](const Config& c, const Config& k, const DeviceFacts&) {
    const int elements = c["vec"] * c["rows"];
    return elements <= (c["vec"] == 8 ? 64 : 128) && (elements >= 16 || k["max_vec"] == 1);
  });
  kernel.space.restrict("512 threads a multiprocessor, 256 where a thread has more than 64 elements: the registers that needs", [](const Config& c, const Config&, const DeviceFacts&) {
    return c["min_blocks"] * c["threads"] == (c["vec"] * c["rows"] > 64 ? 256 : 512);
  });
  kernel.space.restrict("a block's rows divide a unit of 128", [](const Config& c, const Config&, const DeviceFacts&) {
    return c["threads"] / c["lanes"] * c["rows"] <= kUnitRows;
  });
  kernel.space.fallback(fallback);
  return kernel;
}

// Bytes of the static shared memory in which segments meet.
int fold_bytes(const Config& c, const Config& k) {
  const int slots = c["strips"] > 1 ? 4 : 2;
  return slots * (k["W"] + k["bias"]) * c["vec"] * (c["threads"] / c["strips"]) * 4;
}

Kernel make_bwd() {
  const Config fallback{{"vec", 1}, {"strips", 1}, {"units", 1}, {"threads", 128}, {"min_blocks", 4}};
  Kernel kernel;
  kernel.source = source("bwd", "Bwd", sizeof(ConvBwdArgs));
  kernel.space.parameter("vec", {4, 2, 1})
      .parameter("strips", {1, 2, 4})
      .parameter("threads", {128, 64, 256})
      .parameter("min_blocks", {4, 8, 2, 1})
      .launch_parameter("units", {1, 2, 4});
  restrict_vec(kernel.space, fallback);
  kernel.space.restrict("strips that make one unit together have one", [](const Config& c, const Config&, const DeviceFacts&) {
    return c["strips"] == 1 || c["units"] == 1;
  });
  kernel.space.restrict("512 threads a multiprocessor, 256 for the rings of wide kernels: the registers that needs",
                        [](const Config& c, const Config& k, const DeviceFacts&) {
                          return c["min_blocks"] * c["threads"] == (k["W"] <= 4 || c["vec"] == 1 ? 512 : 256);
                        });
  kernel.space.restrict("the folded sums fit in 48 KiB of static shared memory",
                        [](const Config& c, const Config& k, const DeviceFacts&) { return fold_bytes(c, k) <= 48 * 1024; });
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

}  // namespace

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
