#include "src/engine/timing_bench.h"

#include <algorithm>
#include <cmath>

#include "strop/error.h"
#include "tuner/check.h"

namespace strop::engine {
namespace {

constexpr std::size_t kAlignment = 256;
constexpr std::uint64_t kSeed = 0x5742'1001;
// Inputs are made on the CPU up to this length and repeated: times depend on values only through their being ordinary.
constexpr std::int64_t kPattern = 1 << 20;
// Device timers resolve about half a microsecond: a batch should be some hundred times that.
constexpr double kBatchMicroseconds = 100;
constexpr int kMaxLaunches = 16;
constexpr std::size_t kMaxSets = 64;
// Share of the nominal memory rate that a copy kernel attains: measured on H200 (docs/performance-log.md). Of other chips it is not known;
// what none reaches ends no search too early.
double attainable(const DeviceFacts& facts) { return facts.name.find("H200") != std::string::npos ? 0.875 : 0.97; }

std::size_t bytes_of(const TensorSpec& spec) { return static_cast<std::size_t>(spec.elements) * size_of(spec.type); }

}  // namespace

double attainable_rate(const DeviceFacts& facts) {
  return 2.0 * 1e3 * facts.memory_clock_khz * facts.memory_bus_bits / 8 * attainable(facts);  // double data rate
}

std::size_t cold_sets(const DeviceFacts& facts, double bytes) {
  if (facts.kind == DeviceKind::host) return 1;
  return static_cast<std::size_t>(2.0 * static_cast<double>(facts.l2_bytes) / std::max(bytes, 1.0)) + 1;
}

int launches_a_batch(device::Device& device, const std::function<void(Stream, int)>& launch_one) {
  const bool host = device.facts().kind == DeviceKind::host;
  // The first launch of a kernel may load it, and its time says nothing of the next.
  const double warm = device.time(launch_one, {host ? 1 : 2, 1}).back() * 1e6;
  if (host) return 1;
  return std::clamp(static_cast<int>(std::ceil(kBatchMicroseconds / std::max(warm, 1.0))), 1, kMaxLaunches);
}

void fill_input(device::Device& device, void* to, const TensorSpec& spec, std::uint64_t seed) {
  TensorSpec pattern = spec;
  const bool repeats = spec.values.empty() && (spec.fill == Fill::normal || spec.fill == Fill::uniform);
  if (repeats) pattern.elements = std::min(spec.elements, kPattern);
  const auto contents = tuner::make_input(pattern, seed);
  const std::size_t total = bytes_of(spec);
  device.upload(to, contents.data(), contents.size());
  // Doubles what is there until all is filled.
  for (std::size_t done = contents.size(); done > 0 && done < total;) {
    const std::size_t more = std::min(done, total - done);
    device.copy(static_cast<std::byte*>(to) + done, to, more);
    done += more;
  }
}

TimingBench::TimingBench(device::Device& device, const KernelProblem& problem)
    : device_(device), problem_(problem), tensors_(problem.tensors()) {
  std::size_t a_set = 0;
  for (const auto& spec : tensors_) a_set += bytes_of(spec);
  const std::size_t wanted = a_set == 0 ? 1 : std::min(kMaxSets, cold_sets(device.facts(), static_cast<double>(a_set)));
  add_set();
  try {
    while (sets_.size() < wanted) add_set();
  } catch (const OutOfMemory&) {
    // Fewer sets make a warmer cache, not a wrong result.
  }
  cold_ = a_set * sets_.size() >= 2 * device.facts().l2_bytes;
}

void TimingBench::add_set() {
  Set set;
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    const auto& spec = tensors_[i];
    device::Buffer buffer(device_, bytes_of(spec) + kAlignment);
    void* data = static_cast<std::byte*>(buffer.data()) + spec.misalign;
    if (spec.role == Role::input) fill_input(device_, data, spec, kSeed + i);
    set.pointers.push_back(data);
    bytes_ += buffer.bytes();
    set.buffers.push_back(std::move(buffer));
  }
  sets_.push_back(std::move(set));
}

double TimingBench::limit_us() const {
  const double rate = cold_ ? attainable_rate(device_.facts()) : 0;
  const double bytes = problem_.bytes_moved();
  return rate > 0 && bytes > 0 ? bytes / rate * 1e6 : 0;
}

std::vector<double> TimingBench::sample(const device::LoadedKernel& kernel, const Config& config, int batches) {
  std::vector<std::vector<std::byte>> arguments;
  for (const auto& set : sets_) arguments.push_back(problem_.arguments(config, set.pointers));
  const auto geometry = problem_.geometry(config);
  const auto launch_one = [&](Stream stream, int) {
    const auto& bytes = arguments[next_set_];
    next_set_ = (next_set_ + 1) % sets_.size();
    device_.launch(kernel, geometry, bytes.data(), bytes.size(), stream);
  };
  auto times = device_.time(launch_one, {batches, launches_a_batch(device_, launch_one)});
  for (auto& t : times) t *= 1e6;
  return times;
}

}  // namespace strop::engine
