#include "tests/host/fault_kernel.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>

#include "tests/host/build.h"

namespace strop::host_test {
namespace {

constexpr std::uint32_t kThreads = 128;

// Twin of the device's Args.
struct Args {
  const void* in;
  void* out;
  std::uint32_t count;
};

}  // namespace

KernelTemplate fault_template(const std::string& function) {
  const std::string name = "faults/faults.cuh";
  std::ifstream text(std::filesystem::path(STROP_TEST_SOURCES) / "host" / name);
  KernelTemplate kernel;
  kernel.name = "fault_" + function;
  kernel.file = name;
  kernel.function = "strop::faults::" + function;
  kernel.params = "strop::faults::Params";
  kernel.args = "strop::faults::Args";
  kernel.args_size = sizeof(Args);
  kernel.sources[name] = {std::istreambuf_iterator<char>(text), {}};
  return kernel;
}

std::vector<std::uint32_t> run_fault(device::Device& device, const FaultRun& run) {
  const auto binary =
      build(fault_template(run.function), {{"threads", kThreads}, {"fixed", run.fixed ? 1 : 0}}, run.flags);
  const unsigned dynamic_shared = run.function == "dynamic_shared_overrun" ? kThreads * 4 : 0;
  const unsigned blocks = run.function == "traps" ? 3 : 1;
  const auto kernel = device.load(binary.bytes, binary.entry, dynamic_shared);
  std::vector<std::uint32_t> words(kThreads);
  std::iota(words.begin(), words.end(), 1u);
  device::Buffer in(device, words.size() * 4), out(device, words.size() * 4 * blocks);
  device.upload(in.data(), words.data(), in.bytes());
  const Args args{in.data(), out.data(), kThreads};
  LaunchGeometry geometry;
  geometry.grid.x = blocks;
  geometry.block.x = kThreads;
  geometry.dynamic_shared = dynamic_shared;
  device.launch(*kernel, geometry, &args, sizeof args, nullptr);
  device.synchronize(nullptr);
  words.resize(kThreads * blocks);
  device.download(words.data(), out.data(), out.bytes());
  return words;
}

}  // namespace strop::host_test
