#include "strop/library.h"

#include <algorithm>
#include <thread>

#include <fmt/format.h>

#include "src/base/format.h"
#include "src/base/log.h"
#include "src/base/settings.h"
#include "src/engine/parts.h"
#include "src/engine/ready_table.h"
#include "src/engine/serving.h"
#include "src/engine/store_place.h"
#include "src/engine/warmup.h"

namespace strop {
namespace {

using engine::Parts;
using engine::Ready;

MissPolicy policy_setting() {
  const auto value = settings::get("on_miss");
  if (value.text == "tune") return MissPolicy::tune;
  if (value.text == "nearest") return MissPolicy::nearest;
  if (value.text == "error") return MissPolicy::error;
  throw Error(fmt::format("STROP_ON_MISS={} is no policy: known are tune, nearest, error", value.text));
}

// How long a key that could not be tuned runs untuned before that is tried again: an attempt costs a step as much as a tuning does.
constexpr std::chrono::seconds kRetryAfter{30};

class Prepared : public PreparedKernel {
 public:
  Prepared(std::shared_ptr<const Library> library, device::Device& device, std::shared_ptr<const Ready> ready, LaunchGeometry geometry)
      : library_(std::move(library)), device_(device), ready_(std::move(ready)), geometry_(geometry) {}
  const Config& config() const override { return ready_->config; }
  const LaunchGeometry& geometry() const override { return geometry_; }
  const std::string& origin() const override { return ready_->origin; }
  std::chrono::steady_clock::time_point good_until() const override { return ready_->good_until; }
  void launch(const void* arguments, std::size_t bytes, Stream stream) const override {
    device_.launch(*ready_->loaded, geometry_, arguments, bytes, stream);
  }

 private:
  std::shared_ptr<const Library> library_;  // the device lives as long as what runs on it
  device::Device& device_;
  std::shared_ptr<const Ready> ready_;
  LaunchGeometry geometry_;
};

class LibraryOnDevice : public Library, public std::enable_shared_from_this<LibraryOnDevice> {
 public:
  explicit LibraryOnDevice(const Options& options);

  const DeviceFacts& device() const override { return parts_.device->facts(); }
  std::string cache_path() const override { return parts_.store->path(); }
  Report warmup(std::span<const WarmupItem> items, const WarmupOptions& options) override;
  Report revalidate(std::span<const WarmupItem> items, const RevalidateOptions& options) override;
  std::shared_ptr<const PreparedKernel> prepare(const Kernel& kernel, const KernelProblem& problem, Stream stream,
                                                std::optional<MissPolicy> on_miss) override;
  void seal() override { parts_.sealed = true; }
  std::uint64_t generation() const override { return table_.generation(); }
  Counters counters() const override { return {parts_.compiles, parts_.timings, parts_.lookups, parts_.loads}; }
  std::shared_ptr<void> allocate(std::size_t bytes) override;
  void upload(void* to, const void* from, std::size_t bytes) override { parts_.device->upload(to, from, bytes); }
  void download(void* to, const void* from, std::size_t bytes) override { parts_.device->download(to, from, bytes); }
  void synchronize(Stream stream) override { parts_.device->synchronize(stream); }
  bool capturing(Stream stream) const override { return parts_.device->capturing(stream); }
  std::size_t first_unreachable(std::span<const void* const> pointers) const override { return parts_.device->first_unreachable(pointers); }
  std::string describe_pointer(const void* pointer) const override { return parts_.device->describe_pointer(pointer); }
  Parts& parts() { return parts_; }

 private:
  bool serves(const Ready& ready, MissPolicy policy) const;
  std::shared_ptr<const Ready> make_ready(const Kernel& kernel, const KernelProblem& problem, const cache::EntryId& id, MissPolicy policy);
  std::shared_ptr<const Ready> tune_now(const Kernel& kernel, const KernelProblem& problem, const cache::EntryId& id);

  Parts parts_;
  engine::ReadyTable table_;
  MissPolicy on_miss_;
};

LibraryOnDevice::LibraryOnDevice(const Options& options) : on_miss_(options.on_miss ? *options.on_miss : policy_setting()) {
  const auto wanted = options.device == "auto" ? settings::get("device").text : options.device;
  parts_.device = device::open(wanted);
  parts_.toolchain = parts_.host() ? jit::make_host() : jit::make_nvrtc();
  parts_.store = engine::open_store(options.cache_path);
  parts_.compile_threads = engine::compile_threads(options.compile_threads);
}

Report LibraryOnDevice::warmup(std::span<const WarmupItem> items, const WarmupOptions& options) {
  auto report = engine::warm_up(parts_, table_, items, options);
  if (const auto failed = engine::failures(report); !failed.empty())
    throw WarmupFailed("warmup achieved nothing for:" + failed, std::move(report));
  return report;
}

Report LibraryOnDevice::revalidate(std::span<const WarmupItem> items, const RevalidateOptions& options) {
  return engine::revalidate(parts_, table_, items, options);
}

std::shared_ptr<const PreparedKernel> LibraryOnDevice::prepare(const Kernel& kernel, const KernelProblem& problem, Stream stream,
                                                               std::optional<MissPolicy> on_miss) {
  const auto id = parts_.entry_id(kernel, problem);
  const auto table_id = engine::table_id(id);
  const auto policy = on_miss.value_or(on_miss_);
  const auto will_do = [&](const Ready& one) { return serves(one, policy); };
  auto ready = table_.find(table_id);
  if (!ready || !will_do(*ready)) {
    if (!parts_.device->capturing(stream))
      ready = table_.once(table_id, policy, will_do, [&] { return make_ready(kernel, problem, id, policy); });
    else if (!ready || policy == MissPolicy::error)
      throw NotReady(fmt::format("{} [{}] is not loaded, and inside a stream capture nothing is compiled, loaded or timed: "
                                 "call warmup or plan it before the capture begins",
                                 id.kernel, id.key.str()));
  }
  engine::require_same_constants(ready->constants, problem.constants(), id);
  return std::make_shared<Prepared>(shared_from_this(), *parts_.device, ready, problem.geometry(ready->config));
}

// What is loaded for a key without a winner was chosen under one policy; another may want more.
bool LibraryOnDevice::serves(const Ready& ready, MissPolicy policy) const {
  if (ready.tuned || policy == MissPolicy::nearest) return true;
  if (policy == MissPolicy::error) return false;
  return parts_.sealed || (ready.sought && std::chrono::steady_clock::now() < ready.good_until);
}

std::shared_ptr<const Ready> LibraryOnDevice::make_ready(const Kernel& kernel, const KernelProblem& problem, const cache::EntryId& id,
                                                         MissPolicy policy) {
  if (const auto winner = engine::find_winner(parts_, kernel, problem, id)) {
    auto ready = engine::load_ready(parts_, kernel, problem, winner->config, "winner");
    ready->tuned = true;
    engine::tell_if_suspect(*winner, parts_.environment());
    return ready;
  }
  if (policy == MissPolicy::error)
    throw NotReady(fmt::format("{} [{}] has no winner in {}: warm it up, or choose another miss policy", id.kernel, id.key.str(),
                               cache_path().empty() ? "memory" : cache_path()));
  if (policy == MissPolicy::nearest) return engine::nearest_or_default(parts_, kernel, problem, id);
  if (auto neighbour = engine::neighbour_of_same_code(parts_, kernel, problem, id)) return neighbour;
  return tune_now(kernel, problem, id);
}

// Tuning inside a call: what can't be tuned (no room for trial buffers, say) still runs, with the default config.
std::shared_ptr<const Ready> LibraryOnDevice::tune_now(const Kernel& kernel, const KernelProblem& problem, const cache::EntryId& id) {
  parts_.require_unsealed("time", id.kernel, id.key.str());
  // The caller's problem outlives this call; a warmup item shares ownership, so it gets one that does nothing.
  const std::shared_ptr<const KernelProblem> borrowed(&problem, [](const KernelProblem*) {});
  const WarmupItem item{&kernel, borrowed};
  const auto report = engine::warm_up(parts_, table_, {&item, 1}, {});
  const auto& key = report.keys.front();
  if (key.outcome != Outcome::failed)
    if (auto ready = table_.find(engine::table_id(id))) return ready;
  log::warn(fmt::format("{} [{}] could not be tuned and runs untuned; a call after {} seconds tries again: {}", id.kernel, id.key.str(),
                        kRetryAfter.count(), key.note));
  auto stand_in = std::make_shared<Ready>(*engine::nearest_or_default(parts_, kernel, problem, id));
  stand_in->sought = true;
  stand_in->good_until = std::chrono::steady_clock::now() + kRetryAfter;
  return stand_in;
}

std::shared_ptr<void> LibraryOnDevice::allocate(std::size_t bytes) {
  void* pointer = parts_.device->allocate(bytes);
  return {pointer, [self = shared_from_this()](void* p) { self->parts_.device->release(p); }};
}

}  // namespace

std::shared_ptr<Library> Library::open(const Options& options) { return std::make_shared<LibraryOnDevice>(options); }

engine::Parts& engine::parts_of(Library& library) { return dynamic_cast<LibraryOnDevice&>(library).parts(); }

}  // namespace strop
