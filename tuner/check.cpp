#include "tuner/check.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace strop::tuner {
namespace {

struct Worst {
  std::size_t count = 0;
  std::size_t first = 0;
  double got = 0;
  double expected = 0;
};

bool within(const Tolerance& tolerance, double got, double expected) {
  if (std::isnan(expected)) return std::isnan(got);
  if (std::isinf(expected)) return got == expected;
  return std::fabs(got - expected) <= tolerance.absolute + tolerance.relative * std::fabs(expected);
}

bool still_poison(const std::byte* element, std::size_t size) {
  return std::all_of(element, element + size, [](std::byte b) { return b == std::byte{kPoisonByte}; });
}

// An fp16 reference may be finite where storage overflows to infinity; the reference is what storage would hold.
double as_stored(DType type, double value) {
  if (type == DType::fp32 || std::isnan(value) || is_untouched(value)) return value;
  std::array<std::byte, 8> element{};
  if (type != DType::fp16 || std::fabs(value) < 65504) return value;
  encode(type, value, element.data());
  return decode(type, element.data());
}

std::string describe(const TensorSpec& spec, const Worst& worst, std::size_t total) {
  const auto expected = is_untouched(worst.expected) ? std::string("untouched") : fmt::format("{:.9g}", worst.expected);
  return fmt::format("{}[{}] is {:.9g}, expected {}; {} of {} elements are wrong", spec.name, worst.first, worst.got, expected, worst.count,
                     total);
}

}  // namespace

std::optional<std::string> compare(const TensorSpec& spec, std::span<const std::byte> got, const std::vector<double>& reference) {
  const std::size_t size = size_of(spec.type);
  if (got.size() != reference.size() * size)
    return fmt::format("{}: the reference has {} elements, the output {} bytes", spec.name, reference.size(), got.size());
  Worst worst;
  double error = 0;
  double norm = 0;
  for (std::size_t i = 0; i < reference.size(); ++i) {
    const std::byte* element = got.data() + i * size;
    const double expected = as_stored(spec.type, reference[i]);
    const double value = decode(spec.type, element);
    const bool good = is_untouched(expected) ? still_poison(element, size) : within(spec.tolerance, value, expected);
    if (!good && worst.count++ == 0) {
      worst.first = i;
      worst.got = value;
      worst.expected = expected;
    }
    if (is_untouched(expected) || !std::isfinite(expected)) continue;
    error += (value - expected) * (value - expected);
    norm += expected * expected;
  }
  if (worst.count > 0) return describe(spec, worst, reference.size());
  if (spec.tolerance.rms > 0 && !(std::sqrt(error) <= spec.tolerance.rms * std::sqrt(norm)))
    return fmt::format("{}: relative error {:.3g} in the root mean square, {:.3g} is allowed", spec.name, std::sqrt(error / std::max(norm, 1e-300)),
                       spec.tolerance.rms);
  return std::nullopt;
}

std::optional<std::string> check_guard(std::span<const std::byte> zone, const std::string& name) {
  const auto at = std::find_if(zone.begin(), zone.end(), [](std::byte b) { return b != std::byte{kGuardByte}; });
  if (at == zone.end()) return std::nullopt;
  return fmt::format("the guard zone {} was written to, {} bytes into its {}", name, at - zone.begin(), zone.size());
}

}  // namespace strop::tuner
