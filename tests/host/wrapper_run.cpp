#include "tests/host/wrapper_run.h"

namespace strop::conformance {

std::vector<std::uint32_t> run_case(device::Device& device, const WrapperCase& c, const jit::Binary& binary) {
  std::vector<std::uint32_t> out = c.initial;
  out.resize(c.expected.size());
  device::Buffer in(device, c.in.size() * 4), result(device, out.size() * 4);
  device.upload(in.data(), c.in.data(), in.bytes());
  device.upload(result.data(), out.data(), result.bytes());
  const auto kernel = device.load(binary.bytes, binary.entry, c.dynamic_shared);
  const Args args{in.data(), result.data(), c.count};
  LaunchGeometry geometry;
  geometry.grid = c.grid;
  geometry.block.x = static_cast<unsigned>(c.config.at("threads"));
  geometry.dynamic_shared = c.dynamic_shared;
  device.launch(*kernel, geometry, &args, sizeof args, nullptr);
  device.synchronize(nullptr);
  device.download(out.data(), result.data(), result.bytes());
  return out;
}

}  // namespace strop::conformance
