#include "strop/trial.h"

#include <array>

#include "strop/library.h"

namespace strop {
namespace {
constexpr std::array<std::string_view, 12> kVerdicts{
    "ok",            "does_not_compile", "too_much_shared_memory", "does_not_load", "launch_failed", "wrong_result",
    "wrote_outside", "not_reproducible", "too_slow",               "crashed",       "out_of_memory",
    "not_compiled"};
constexpr std::array<std::string_view, 4> kOutcomes{"tuned", "hit", "revalidated", "failed"};
}  // namespace

std::string_view name(Verdict v) { return kVerdicts.at(static_cast<std::size_t>(v)); }

bool settled(Verdict v) { return v != Verdict::out_of_memory && v != Verdict::not_compiled; }

std::optional<Verdict> parse_verdict(std::string_view text) {
  for (std::size_t i = 0; i < kVerdicts.size(); ++i)
    if (kVerdicts[i] == text) return static_cast<Verdict>(i);
  return std::nullopt;
}

std::string_view name(Outcome o) { return kOutcomes.at(static_cast<std::size_t>(o)); }

}  // namespace strop
