// The seeded contents of inputs, and whole tensors to and from double.

#include <cstdint>

#include "tuner/check.h"
#include "tuner/stored.h"

namespace strop::tuner {
namespace {

// splitmix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014) as a function of a counter:
// element i never depends on how the work is divided.
std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

// The sum of eight 16-bit uniforms, centred and scaled to variance 1: normal enough for inputs, integers until the last
// step and so the same on every machine, which the logarithm and cosine of other methods would not be.
double normal(std::uint64_t counter) {
  std::int64_t sum = 0;
  for (const std::uint64_t word : {mix(2 * counter), mix(2 * counter + 1)})
    for (int shift = 0; shift < 64; shift += 16) sum += static_cast<std::int64_t>(word >> shift & 0xffff);
  constexpr double kMean = 8 * 65535 / 2.0;
  constexpr double kScale = 1 / 53509.8;  // sqrt(8 / 12) * 65536
  return (static_cast<double>(sum) - kMean) * kScale;
}

double uniform(std::uint64_t counter) { return static_cast<double>(mix(counter) >> 11) * 0x1p-52 - 1; }

template <class Value>
std::vector<std::byte> fill(const TensorSpec& spec, const Value& value) {
  return with_stored(spec.type, [&](auto stored) {
    std::vector<std::byte> bytes(static_cast<std::size_t>(spec.elements) * stored.kSize);
    for (std::int64_t i = 0; i < spec.elements; ++i)
      stored.save(value(i), bytes.data() + static_cast<std::size_t>(i) * stored.kSize);
    return bytes;
  });
}

}  // namespace

double decode(DType type, const std::byte* element) {
  return with_stored(type, [&](auto stored) { return stored.load(element); });
}

void encode(DType type, double value, std::byte* element) {
  with_stored(type, [&](auto stored) { stored.save(value, element); });
}

std::vector<std::byte> make_input(const TensorSpec& spec, std::uint64_t seed) {
  const std::uint64_t start = mix(seed);
  const auto counter = [&](std::int64_t i) { return start + static_cast<std::uint64_t>(i); };
  if (!spec.values.empty()) return fill(spec, [&](std::int64_t i) { return spec.values.at(static_cast<std::size_t>(i)); });
  switch (spec.fill) {
    case Fill::normal:
      return fill(spec, [&](std::int64_t i) { return spec.scale * normal(counter(i)); });
    case Fill::uniform:
      return fill(spec, [&](std::int64_t i) { return spec.scale * uniform(counter(i)); });
    case Fill::iota:
      return fill(spec, [&](std::int64_t i) { return spec.scale * static_cast<double>(i); });
    case Fill::zeros:
      break;
  }
  return std::vector<std::byte>(static_cast<std::size_t>(spec.elements) * size_of(spec.type));
}

std::vector<double> decode_all(DType type, std::span<const std::byte> bytes) {
  return with_stored(type, [&](auto stored) {
    std::vector<double> values(bytes.size() / stored.kSize);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = stored.load(bytes.data() + i * stored.kSize);
    return values;
  });
}

}  // namespace strop::tuner
