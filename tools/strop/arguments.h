#pragma once

// Words of the command line to values. Everything is checked here, with a sentence that says what would have been
// right; UsageError otherwise. No locale.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "strop/causal_conv1d.h"
#include "strop/dtype.h"

namespace strop::cli {

// Sizes of problems: from 1 to 2^40 (more elements than any memory holds; products are the op's to judge).
inline constexpr std::int64_t kLargestSize = std::int64_t{1} << 40;

// "2048,4096" -> {2048, 4096}; repeated numbers once, in the order given.
std::vector<std::int64_t> parse_sizes(const std::string& option, const std::string& text);
// One such size.
std::int64_t parse_size(const std::string& option, const std::string& text);
// "0.5", "10": a positive number of seconds, at most a year.
double parse_seconds(const std::string& option, const std::string& text);
// "90s", "15m", "12h", "30d", "2w"; no unit is refused, since it would be a guess. Seconds.
std::int64_t parse_age(const std::string& option, const std::string& text);
// "512M", "1.5GiB", "100KiB", "4096": bytes; powers of 1024.
std::uint64_t parse_bytes(const std::string& option, const std::string& text);
DType parse_float_type(const std::string& option, const std::string& text);
// "int32" or "int64".
DType parse_index_type(const std::string& option, const std::string& text);
// "silu", which "swish" is another word for, or "none".
Activation parse_activation(const std::string& option, const std::string& text);
// "auto", "cuda", "cuda:3", "host".
std::string parse_device(const std::string& option, const std::string& text);
// "sm_90": the arch names of GPUs.
std::string parse_arch(const std::string& option, const std::string& text);

// "'foo' is no op; known: a, b".
[[noreturn]] void refuse_choice(std::string_view what, std::string_view given, const std::vector<std::string>& known);

}  // namespace strop::cli
