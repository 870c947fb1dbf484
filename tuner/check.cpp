#include "tuner/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "tuner/stored.h"

namespace strop::tuner {
namespace {

constexpr std::size_t kBlock =
    4096;  // elements passed over at once; only blocks with something unusual are looked at one by one

// What storage would hold of a reference beyond its range: infinity, or the largest value.
template <class Type>
double as_stored(Type stored, double value) {
  if (!stored.kFloat || !(std::fabs(value) > stored.kLargest)) return value;
  std::array<std::byte, 8> element{};
  stored.save(value, element.data());
  return stored.load(element.data());
}

template <class Type>
class Comparison {
 public:
  Comparison(const TensorSpec& spec, std::span<const std::byte> got, const std::vector<double>& reference)
      : spec_(spec), got_(got), reference_(reference) {}

  std::optional<std::string> run() {
    for (std::size_t begin = 0; begin < reference_.size(); begin += kBlock) {
      const std::size_t end = std::min(begin + kBlock, reference_.size());
      if (plainly_right(begin, end)) continue;
      for (std::size_t i = begin; i < end; ++i)
        if (!right(i) && wrong_++ == 0) first_ = i;
    }
    return wrong_ > 0 ? describe() : too_far_in_the_mean();
  }

 private:
  const std::byte* element(std::size_t i) const { return got_.data() + i * Type::kSize; }

  // Without branches, for speed. Whatever is not an ordinary number within the tolerance says no, NaN of course too.
  bool plainly_right(std::size_t begin, std::size_t end) const {
    const double absolute = spec_.tolerance.absolute;
    const double relative = spec_.tolerance.relative;
    unsigned unusual = 0;
    for (std::size_t i = begin; i < end; ++i) {
      const double size = std::fabs(reference_[i]);
      const double error = std::fabs(Type::load(element(i)) - reference_[i]);
      unusual += 1U - (static_cast<unsigned>(error <= absolute + relative * size) &
                       static_cast<unsigned>(size <= Type::kLargest));
    }
    return unusual == 0;
  }

  bool right(std::size_t i) const {
    if (is_untouched(reference_[i])) return Type::all_ones(element(i));
    const double expected = as_stored(Type{}, reference_[i]);
    const double value = Type::load(element(i));
    // The poison is a NaN too: it is no answer.
    if (std::isnan(expected)) return std::isnan(value) && !Type::all_ones(element(i));
    if (std::isinf(expected)) return value == expected;
    return std::fabs(value - expected) <= spec_.tolerance.absolute + spec_.tolerance.relative * std::fabs(expected);
  }

  std::string describe() const {
    const bool gap = is_untouched(reference_[first_]);
    const auto expected = gap ? std::string("untouched") : fmt::format("{:.9g}", as_stored(Type{}, reference_[first_]));
    const bool unwritten = Type::kFloat && Type::all_ones(element(first_));
    const auto found =
        unwritten ? std::string("was not written") : fmt::format("is {:.9g}", Type::load(element(first_)));
    return fmt::format("{}[{}] {}, expected {}; {} of {} elements are wrong", spec_.name, first_, found, expected,
                       wrong_, reference_.size());
  }

  std::optional<std::string> too_far_in_the_mean() const {
    if (!(spec_.tolerance.rms > 0)) return std::nullopt;
    double error = 0;
    double norm = 0;
    for (std::size_t i = 0; i < reference_.size(); ++i) {
      if (!(std::fabs(reference_[i]) <= Type::kLargest)) continue;  // gaps and what is not finite have been judged
      const double distance = Type::load(element(i)) - reference_[i];
      error += distance * distance;
      norm += reference_[i] * reference_[i];
    }
    if (std::sqrt(error) <= spec_.tolerance.rms * std::sqrt(norm)) return std::nullopt;
    return fmt::format("{}: relative error {:.3g} in the root mean square, {:.3g} is allowed", spec_.name,
                       std::sqrt(error / std::max(norm, 1e-300)), spec_.tolerance.rms);
  }

  const TensorSpec& spec_;
  std::span<const std::byte> got_;
  const std::vector<double>& reference_;
  std::size_t wrong_ = 0;
  std::size_t first_ = 0;
};

}  // namespace

std::optional<std::string> compare(const TensorSpec& spec, std::span<const std::byte> got,
                                   const std::vector<double>& reference) {
  if (got.size() != reference.size() * size_of(spec.type))
    return fmt::format("{}: the reference has {} elements, the output {} bytes", spec.name, reference.size(),
                       got.size());
  return with_stored(spec.type, [&](auto stored) { return Comparison<decltype(stored)>(spec, got, reference).run(); });
}

std::optional<std::string> check_guard(std::span<const std::byte> zone, const std::string& name) {
  const auto intact = [](std::byte b) { return b == std::byte{kGuardByte}; };
  const auto at = std::find_if_not(zone.begin(), zone.end(), intact);
  if (at == zone.end()) return std::nullopt;
  const auto changed = zone.size() - static_cast<std::size_t>(std::count_if(zone.begin(), zone.end(), intact));
  return fmt::format("the guard zone {} was written to: {} of its {} bytes, the first at {}", name, changed,
                     zone.size(), at - zone.begin());
}

}  // namespace strop::tuner
