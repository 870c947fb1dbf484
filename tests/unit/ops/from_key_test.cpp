// From a key back to a problem: every item that dense tensors make comes back with its own key, and nothing else comes back at all.

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "src/ops/causal_conv1d/gate.h"
#include "src/ops/causal_conv1d/op.h"
#include "src/ops/op.h"

namespace strop::ops {
namespace {

constexpr std::initializer_list<bool> kBoth{false, true};
constexpr std::initializer_list<DType> kFloats{DType::bf16, DType::fp16, DType::fp32};

// Every item of a supported problem round-trips. How many that were.
int expect_round_trips(const CausalConv1dProblem& problem) {
  if (why_unsupported(problem)) return 0;
  int items = 0;
  for (const auto& item : conv_items(problem)) {
    ++items;
    const auto key = item.problem->key();
    const auto made = causal_conv1d_op().item_of(item.kernel->source.name, key);
    if (!made) {
      ADD_FAILURE() << item.kernel->source.name << " [" << key.str() << "] alignment " << problem.alignment;
      continue;
    }
    EXPECT_EQ(made->kernel, item.kernel);
    EXPECT_EQ(made->problem->key().str(), key.str());
    // What the code is compiled for, too: else the winner of the one would be timed as another's.
    EXPECT_EQ(made->problem->constants(), item.problem->constants()) << item.kernel->source.name << " [" << key.str() << "]";
  }
  return items;
}

std::vector<CausalConv1dProblem> with_switches(const CausalConv1dProblem& base) {
  std::vector<CausalConv1dProblem> problems;
  for (const auto activation : {Activation::silu, Activation::none})
    for (const bool bias : kBoth)
      for (const bool residual : kBoth)
        for (const bool initial : kBoth)
          for (const bool final : kBoth) {
            auto problem = base;
            problem.activation = activation;
            problem.bias = bias;
            problem.residual = residual;
            problem.initial_state = initial;
            problem.final_state = final;
            problems.push_back(problem);
          }
  return problems;
}

CausalConv1dProblem sized(std::int64_t B, std::int64_t T, std::int64_t D, std::int64_t W) {
  return conv_problem({B, T, D, W});
}

TEST(FromKey, every_type_width_and_alignment_comes_back) {
  int items = 0;
  for (const auto x_type : kFloats)
    for (const auto weight_type : kFloats)
      for (std::int64_t W = 1; W <= 8; ++W)
        for (const std::int64_t D : {1, 7, 12, 20, 2047, 2048})
          for (const int alignment : {2, 4, 8, 16}) {
            auto problem = sized(2, 130, D, W);
            problem.x_type = x_type;
            problem.weight_type = weight_type;
            problem.alignment = alignment;
            for (const bool bias : kBoth) {
              problem.bias = bias;
              items += expect_round_trips(problem);
            }
          }
  // Three items each; of the four alignments, 2 holds no two tensors of fp32.
  EXPECT_EQ(items, 3 * 2 * 6 * 8 * (9 * 4 - 1));
}

TEST(FromKey, every_switch_of_the_contract_comes_back) {
  int items = 0;
  for (const std::int64_t sequences : {0, 1, 3, 700})
    for (const auto bounds : {DType::int32, DType::int64})
      for (const std::int64_t D : {9, 64})
        for (const int alignment : {2, 8, 16}) {
          auto base = sized(1, 4099, D, 4);
          base.weight_type = DType::bf16;
          base.packed_sequences = sequences;
          base.cu_seqlens_type = bounds;
          base.alignment = alignment;
          for (const auto& problem : with_switches(base)) items += expect_round_trips(problem);
        }
  // Of 32 switchings: three items each, a final state's kernel for half of them, its gradient's for three quarters.
  EXPECT_EQ(items, 4 * 2 * 2 * 3 * (32 * 3 + 16 + 24));
}

TEST(FromKey, sizes_at_the_ends_come_back) {
  using Sizes = std::tuple<std::int64_t, std::int64_t, std::int64_t>;
  for (const auto& [B, T, D] : {Sizes{1, 1, 1}, Sizes{16, 8192, 2048}, Sizes{65536, 1, 3}, Sizes{1, std::int64_t{1} << 33, 1}})
    for (const auto& problem : with_switches(sized(B, T, D, 4))) EXPECT_GE(expect_round_trips(problem), 3);
  auto longest = sized(1, std::int64_t{1} << 33, 8, 4);
  longest.packed_sequences = 5;
  longest.cu_seqlens_type = DType::int64;
  EXPECT_EQ(expect_round_trips(longest), 3);
}

TEST(FromKey, strided_tensors_do_not_come_back) {
  auto slice = sized(2, 130, 64, 4);
  slice.x_strides = {130 * 192, 192, 1};
  const auto items = conv_items(slice);
  EXPECT_FALSE(causal_conv1d_op().item_of(items[0].kernel->source.name, items[0].problem->key()));
  EXPECT_FALSE(causal_conv1d_op().item_of(items[1].kernel->source.name, items[1].problem->key()));
  // The reduction reads partial sums alone, whatever x looks like.
  EXPECT_TRUE(causal_conv1d_op().item_of(items[2].kernel->source.name, items[2].problem->key()));
}

TEST(FromKey, what_is_no_key_of_ours_gives_nothing) {
  const std::string good = "B=2 T=64 D=16 W=4 dtype=bf16 wdtype=fp32 act=silu bias=no layout=dense vec=v8 taps=packed";
  const auto made = [](const std::string& kernel, const std::string& text) {
    const auto key = Key::parse(text);
    EXPECT_TRUE(key) << text;
    return key && causal_conv1d_op().item_of(kernel, *key).has_value();
  };
  EXPECT_TRUE(made("causal_conv1d_fwd", good));
  for (const char* kernel : {"rms_norm", "causal_conv1d", "causal_conv1d_dw_reduce", "causal_conv1d_final_state", ""})
    EXPECT_FALSE(made(kernel, good)) << kernel;
  using Change = std::pair<const char*, const char*>;
  const std::vector<Change> changes{
      {"B=2", "B=two"}, {"B=2", "B=-2"}, {"T=64", "T=0"}, {"T=64 ", ""}, {"W=4", "W=9"},
      {"D=16", "D=9223372036854775807"}, {"dtype=bf16", "dtype=int32"}, {"dtype=bf16", "dtype=fp8"},
      {"wdtype=fp32", "wdtype=fp8"}, {"act=silu", "act=gelu"}, {"bias=no", "bias=maybe"}, {"bias=no ", ""},
      {"layout=dense", "layout=strided"}, {"vec=v8", "vec=v3"}, {"vec=v8 taps=packed", "taps=packed vec=v8"},
      {"taps=packed", "taps=packed seqs=packed-int32"}, {"taps=packed", "taps=packed initial=no"},
      {"taps=packed", "taps=packed colour=red"}};
  for (const auto& [from, to] : changes) {
    std::string text = good;
    text.replace(text.find(from), std::string_view(from).size(), to);
    EXPECT_FALSE(made("causal_conv1d_fwd", text)) << text;
  }
  // The backward has no residual in its key.
  EXPECT_TRUE(made("causal_conv1d_fwd", good + " residual=yes"));
  EXPECT_FALSE(made("causal_conv1d_bwd", good + " residual=yes"));
  EXPECT_FALSE(causal_conv1d_op().item_of("causal_conv1d_fwd", Key()));
}

}  // namespace
}  // namespace strop::ops
