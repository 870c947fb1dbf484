#include "src/ops/causal_conv1d/from_key.h"

#include <algorithm>
#include <initializer_list>

#include "src/ops/causal_conv1d/gate.h"
#include "src/ops/causal_conv1d/kernels.h"
#include "src/ops/causal_conv1d/op.h"

namespace strop::ops {
namespace {

// Packed sequences are as long as this on average, as in a pre-training mix of documents; two at least, so that a check and a timing
// have a boundary inside. A job's own number moves the few blocks at the ends of sequences alone, which is why no key has it.
constexpr std::int64_t kTokensASequence = 2048;
constexpr std::int64_t kMostSequences = std::int64_t{1} << 16;

std::optional<std::int64_t> number(const Key& key, std::string_view name) {
  const auto value = key.find(name);
  if (!value || !std::holds_alternative<std::int64_t>(*value)) return std::nullopt;
  return std::get<std::int64_t>(*value);
}

std::string word(const Key& key, std::string_view name) {
  const auto value = key.find(name);
  return value && std::holds_alternative<std::string>(*value) ? std::get<std::string>(*value) : std::string();
}

void read_types(const Key& key, CausalConv1dProblem& problem) {
  problem.x_type = parse_dtype(word(key, "dtype")).value_or(problem.x_type);
  problem.weight_type = parse_dtype(word(key, "wdtype")).value_or(problem.weight_type);
}

void read_sequences(const Key& key, CausalConv1dProblem& problem) {
  problem.initial_state = word(key, "initial") == "yes";
  const auto packed = word(key, "seqs");
  if (packed.empty()) return;
  problem.packed_sequences = std::clamp<std::int64_t>(problem.T / kTokensASequence, 2, kMostSequences);
  problem.cu_seqlens_type = packed == "packed-int64" ? DType::int64 : DType::int32;
}

// What the key says, word by word. A word that is not known is read as another: whoever asks compares the keys.
std::optional<CausalConv1dProblem> read(const std::string& kernel, const Key& key) {
  const auto B = number(key, "B"), T = number(key, "T"), D = number(key, "D"), W = number(key, "W");
  if (!B || !T || !D || !W) return std::nullopt;
  CausalConv1dProblem problem;
  problem.B = *B;
  problem.T = *T;
  problem.D = *D;
  problem.W = *W;
  read_types(key, problem);
  if (word(key, "act") == "none") problem.activation = Activation::none;
  problem.bias = word(key, "bias") == "yes";
  problem.residual = word(key, "residual") == "yes";
  read_sequences(key, problem);
  // In no key: it is what the two kernels are there for.
  problem.final_state = kernel == conv_final_state_kernel().source.name || kernel == conv_state_bwd_kernel().source.name;
  return problem;
}

}  // namespace

std::optional<WarmupItem> conv_item_of(const std::string& kernel, const Key& key) {
  auto problem = read(kernel, key);
  if (!problem) return std::nullopt;
  // The widest that gives the key: what an allocator gives, unless the key is of something narrower.
  for (const int alignment : {16, 8, 4, 2}) {
    problem->alignment = alignment;
    if (why_unsupported(*problem)) continue;
    for (auto& item : conv_items(*problem))
      if (item.kernel->source.name == kernel && item.problem->key() == key) return std::move(item);
  }
  return std::nullopt;
}

}  // namespace strop::ops
