// Binaries for a GPU that is not here: strop::compile_only.

#include <chrono>

#include <fmt/format.h>

#include "src/engine/arch_facts.h"
#include "src/engine/compile_pool.h"
#include "src/engine/store_place.h"
#include "strop/error.h"
#include "strop/library.h"

namespace strop {
namespace {

// Stands where a device is needed for its facts alone: nothing can be allocated or launched on it.
class AbsentDevice : public device::Device {
 public:
  explicit AbsentDevice(DeviceFacts facts) : facts_(std::move(facts)) {}
  const DeviceFacts& facts() const override { return facts_; }
  void* allocate(std::size_t) override { refuse(); }
  void release(void*) noexcept override {}
  std::size_t free_bytes() const override { return 0; }
  void upload(void*, const void*, std::size_t) override { refuse(); }
  void download(void*, const void*, std::size_t) override { refuse(); }
  void copy(void*, const void*, std::size_t) override { refuse(); }
  void fill(void*, unsigned char, std::size_t) override { refuse(); }
  std::shared_ptr<device::LoadedKernel> load(std::string_view, std::string_view, unsigned) override { refuse(); }
  void launch(const device::LoadedKernel&, const LaunchGeometry&, const void*, std::size_t, Stream) override { refuse(); }
  void synchronize(Stream) override {}
  bool capturing(Stream) const override { return false; }
  std::vector<double> time(const std::function<void(Stream, int)>&, const device::TimingPlan&) override { refuse(); }
  std::optional<bool> throttled() override { return std::nullopt; }

 private:
  [[noreturn]] static void refuse() { throw Error("compile-only: there is no device to run on"); }
  DeviceFacts facts_;
};

}  // namespace

CompileOnlyReport compile_only(std::span<const WarmupItem> items, const std::string& arch, const Options& options,
                               const std::function<void(const Progress&)>& progress) {
  const auto begin = std::chrono::steady_clock::now();
  engine::Parts parts;
  parts.device = std::make_unique<AbsentDevice>(engine::arch_facts(arch));
  parts.toolchain = jit::make_nvrtc();
  parts.store = engine::open_store(options.cache_path);
  parts.compile_threads = engine::compile_threads(options.compile_threads);

  CompileOnlyReport report;
  report.arch = arch;
  report.cache_path = parts.store->path();
  std::vector<std::pair<std::string, engine::CompiledFuture>> jobs;
  engine::CompilePool pool(parts);
  for (const auto& item : items) {
    const auto constants = item.problem->constants();
    for (const auto& config : item.kernel->space.configs(constants, parts.device->facts()))
      jobs.emplace_back(fmt::format("{} {}", item.kernel->source.name, config.str()), pool.submit(*item.kernel, constants, config));
  }
  report.candidates = static_cast<int>(jobs.size());
  for (const auto& [name, future] : jobs) {
    const auto compiled = future.get();
    if (compiled->no_compiler) throw CompileError(compiled->error, "", "", "", "");
    if (!compiled->binary) report.failed.push_back(name + ": " + compiled->error);
    else if (!compiled->from_store) parts.store->put_binary(*compiled->binary, true);
    else ++report.cached;
    if (progress) progress({0, 1, pool.finished(), pool.submitted(), 0, 0, name, {}});
  }
  report.compiles = static_cast<int>(parts.compiles);
  if (parts.compiler_opened) report.compiler = parts.toolchain->compiler().identity();
  report.elapsed_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return report;
}

}  // namespace strop
