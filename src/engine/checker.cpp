#include "src/engine/checker.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "strop/error.h"
#include "tuner/check.h"

namespace strop::engine {
namespace {

constexpr std::size_t kAlignment = 256;
// A candidate that runs longer than this on the small check problem does not end.
constexpr double kLimitS = 10;
constexpr std::uint64_t kSeed = 0x5742'0001;

std::size_t bytes_of(const TensorSpec& spec) { return static_cast<std::size_t>(spec.elements) * size_of(spec.type); }

std::vector<void*> pointers(const device::Buffer& arena, const std::vector<std::size_t>& offsets) {
  std::vector<void*> result;
  result.reserve(offsets.size());
  for (const auto offset : offsets) result.push_back(static_cast<std::byte*>(arena.data()) + offset);
  return result;
}

}  // namespace

Checker::Checker(device::Device& device, std::unique_ptr<KernelProblem> problem)
    : device_(device), problem_(std::move(problem)), tensors_(problem_->tensors()) {
  lay_out();
  make_reference();
  arena_ = device::Buffer(device_, pristine_.size());
  fresh_ = device::Buffer(device_, pristine_.size());
  device_.upload(fresh_.data(), pristine_.data(), pristine_.size());
}

// One arena: everything that is not a tensor's data is guard, so that a write anywhere outside shows.
void Checker::lay_out() {
  std::size_t end = 0;
  for (const auto& spec : tensors_) {
    const std::size_t begin = (end + tuner::kGuardBytes + kAlignment - 1) / kAlignment * kAlignment + spec.misalign;
    offsets_.push_back(begin);
    end = begin + bytes_of(spec);
  }
  pristine_.assign(end + tuner::kGuardBytes, std::byte{tuner::kGuardByte});
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    auto* data = pristine_.data() + offsets_[i];
    if (tensors_[i].role == Role::input) {
      const auto input = tuner::make_input(tensors_[i], kSeed + i);
      std::copy(input.begin(), input.end(), data);
    } else {
      std::memset(data, tuner::kPoisonByte, bytes_of(tensors_[i]));
    }
  }
}

void Checker::make_reference() {
  std::vector<std::vector<double>> in(tensors_.size());
  expected_.resize(tensors_.size());
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    const auto& spec = tensors_[i];
    if (spec.role == Role::input) in[i] = tuner::decode_all(spec.type, {pristine_.data() + offsets_[i], bytes_of(spec)});
    if (spec.role == Role::output) expected_[i].assign(static_cast<std::size_t>(spec.elements), untouched());
  }
  problem_->reference(in, expected_);
}

Finding Checker::run(const device::LoadedKernel& kernel, const Config& config, std::vector<std::byte>& image) {
  device_.copy(arena_.data(), fresh_.data(), pristine_.size());
  const auto arguments = problem_->arguments(config, pointers(arena_, offsets_));
  launched_ = true;
  try {
    device_.launch(kernel, problem_->geometry(config), arguments.data(), arguments.size(), device_.own_stream());
    device_.synchronize_within(device_.own_stream(), kLimitS);
  } catch (const OutOfMemory& error) {
    return {Verdict::out_of_memory, error.what()};
  } catch (const CudaError& error) {
    if (error.sticky() || error.of_capture()) throw;
    return {Verdict::launch_failed, error.what()};
  } catch (const Error& error) {
    return {Verdict::launch_failed, error.what()};
  }
  image.resize(pristine_.size());
  device_.download(image.data(), arena_.data(), image.size());
  return {};
}

// What a kernel must leave alone: guards and inputs.
std::optional<std::string> Checker::damage(const std::vector<std::byte>& image) const {
  std::size_t at = 0;
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    const std::size_t begin = offsets_[i];
    if (auto found = tuner::check_guard({image.data() + at, begin - at}, fmt::format("before {}", tensors_[i].name))) return found;
    const std::size_t bytes = bytes_of(tensors_[i]);
    if (tensors_[i].role == Role::input && std::memcmp(image.data() + begin, pristine_.data() + begin, bytes) != 0)
      return fmt::format("input {} was changed", tensors_[i].name);
    at = begin + bytes;
  }
  const auto last = tensors_.empty() ? std::string("the buffers") : tensors_.back().name;
  return tuner::check_guard({image.data() + at, image.size() - at}, fmt::format("after {}", last));
}

Finding Checker::compare_outputs(const std::vector<std::byte>& image) {
  // Candidates of one kernel mostly agree to the bit: what equals an image that passed needs no second comparison.
  if (!passed_.empty() && differing_output(image, passed_).empty()) return {};
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    if (tensors_[i].role != Role::output) continue;
    const std::span<const std::byte> got(image.data() + offsets_[i], bytes_of(tensors_[i]));
    if (auto wrong = tuner::compare(tensors_[i], got, expected_[i])) return {Verdict::wrong_result, *wrong};
  }
  if (passed_.empty()) passed_ = image;
  return {};
}

// The name of the first output in which two images differ; empty when they agree.
std::string Checker::differing_output(const std::vector<std::byte>& a, const std::vector<std::byte>& b) const {
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    if (tensors_[i].role != Role::output) continue;
    if (std::memcmp(a.data() + offsets_[i], b.data() + offsets_[i], bytes_of(tensors_[i])) != 0) return tensors_[i].name;
  }
  return {};
}

Finding Checker::check(const device::LoadedKernel& kernel, const Config& config) {
  launched_ = false;
  std::vector<std::byte> first;
  std::vector<std::byte> second;
  if (auto finding = run(kernel, config, first); finding.verdict != Verdict::ok) return finding;
  if (auto found = damage(first)) return {Verdict::wrote_outside, *found};
  if (auto finding = compare_outputs(first); finding.verdict != Verdict::ok) return finding;
  if (auto finding = run(kernel, config, second); finding.verdict != Verdict::ok) return finding;
  if (auto found = damage(second)) return {Verdict::wrote_outside, *found};
  if (const auto differs = differing_output(first, second); !differs.empty())
    return {Verdict::not_reproducible, fmt::format("two runs on the same inputs differ in {}", differs)};
  return {};
}

}  // namespace strop::engine
