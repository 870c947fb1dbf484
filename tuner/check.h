#pragma once

// Is a candidate's output right? Pure functions on bytes: seeded inputs, poison, guard zones, comparison with the fp64
// reference. Knows no device: the engine copies.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "strop/kernel.h"

namespace strop::tuner {

inline constexpr std::size_t kGuardBytes = 4096;  // before and after every buffer of a trial
inline constexpr unsigned char kGuardByte = 0xa5;
// Poison of outputs and scratch: 0xff.. is NaN in every float type, -1 in integers.
inline constexpr unsigned char kPoisonByte = 0xff;

// One storage type's value from and to double, rounding to nearest even. What is too large becomes infinity; in
// integers the nearest there is, and NaN 0.
double decode(DType type, const std::byte* element);
void encode(DType type, double value, std::byte* element);

// Seeded contents of an input, the same on every machine. `normal` is N(0, scale^2), `uniform` in [-scale, scale),
// `iota` 0, 1, 2, ... times scale.
std::vector<std::byte> make_input(const TensorSpec& spec, std::uint64_t seed);
std::vector<double> decode_all(DType type, std::span<const std::byte> bytes);

// Empty when right; else one sentence: which tensor, which element (the first wrong one), what was expected and found,
// how many are wrong. Where the reference is untouched() the poison must still stand; where it is NaN, the poison is no
// answer.
std::optional<std::string> compare(const TensorSpec& spec, std::span<const std::byte> got,
                                   const std::vector<double>& reference);
// The guard zones of one buffer: `zone` names it ("before y"). Empty when intact.
std::optional<std::string> check_guard(std::span<const std::byte> zone, const std::string& name);

}  // namespace strop::tuner
