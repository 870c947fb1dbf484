// What a layer may ask for, by the options of `warmup` and `bench`: every one reaches the keys, the rows and the calls
// that are measured.

#include <map>
#include <set>

#include "tests/cli/command_fixture.h"

namespace strop::test {
namespace {

std::vector<std::string> joined(std::vector<std::string> words, const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

// One channel has the fewest candidates.
const std::vector<std::string> kShape{"causal_conv1d", "--B", "1", "--T", "8", "--D", "1"};
const std::vector<std::string> kOnHost{"--device", "host"};
const std::vector<std::string> kEverything{
    "--bias",       "--activation", "none",       "--packed",        "2",
    "--cu-seqlens", "int64",        "--residual", "--initial-state", "--final-state"};
const char* const kEverythingSaid = "1x8x1 packed 2 int64 bias no activation residual initial state final state";

class Contract : public Command {
 protected:
  // What the keys of a warmup say, by kernel: fields in words, "" for one that is not there. Whether there was time to
  // tune them is not the question.
  std::map<std::string, nlohmann::json> keys_with(const std::vector<std::string>& more) const {
    const auto words = joined(joined({"warmup"}, kShape), joined(kOnHost, {"--budget", "0.000001", "--json"}));
    const auto ran = strop(joined(words, more));
    const auto document = nlohmann::json::parse(ran.out, nullptr, false);
    EXPECT_FALSE(document.is_discarded()) << ran.out << ran.err;
    std::map<std::string, nlohmann::json> keys;
    for (const auto& key : document.value("keys", nlohmann::json::array())) keys[key["kernel"]] = key["key"];
    return keys;
  }
};

constexpr const char* kFwd = "causal_conv1d_fwd";
constexpr const char* kBwd = "causal_conv1d_bwd";
constexpr const char* kReduce = "causal_conv1d_dw_reduce";
constexpr const char* kFinal = "causal_conv1d_final_state";
constexpr const char* kStateBwd = "causal_conv1d_state_bwd";

TEST_F(Contract, each_option_reaches_the_keys_it_concerns_and_no_others) {
  struct Case {
    std::vector<std::string> words;
    std::string field, value;
    std::set<std::string> says, kernels;
  };
  const std::set<std::string> three{kFwd, kBwd, kReduce};
  const std::vector<Case> cases{
      {{"--bias"}, "bias", "yes", three, three},
      {{"--activation", "none"}, "act", "none", {kFwd, kBwd}, three},
      {{"--activation", "swish"}, "act", "silu", {kFwd, kBwd}, three},
      {{"--packed", "2"}, "seqs", "packed-int32", {kFwd, kBwd}, three},
      {{"--packed", "2", "--cu-seqlens", "int64"}, "seqs", "packed-int64", {kFwd, kBwd}, three},
      {{"--residual"}, "residual", "yes", {kFwd}, three},
      {{"--initial-state"}, "initial", "yes", {kFwd, kBwd, kStateBwd}, {kFwd, kBwd, kReduce, kStateBwd}},
      {{"--final-state"}, "initial", "", {}, {kFwd, kBwd, kReduce, kFinal, kStateBwd}}};
  const auto plain = keys_with({});
  for (const auto& one : cases) {
    std::set<std::string> says, kernels;
    for (auto [kernel, key] : keys_with(one.words)) {
      kernels.insert(kernel);
      if (key.value(one.field, "") == one.value && !one.value.empty()) says.insert(kernel);
      if (!plain.contains(kernel)) continue;
      // All else is as without the option.
      auto other = plain.at(kernel);
      key.erase(one.field);
      other.erase(one.field);
      EXPECT_EQ(key, other) << one.words.front();
    }
    EXPECT_EQ(says, one.says) << one.words.front();
    EXPECT_EQ(kernels, one.kernels) << one.words.front();
  }
}

TEST_F(Contract, all_of_it_is_tuned_once_and_then_benched_from_the_cache) {
  const auto words = joined(joined({"warmup"}, kShape), joined(kOnHost, kEverything));
  const auto cold = json(words);
  ASSERT_EQ(cold["keys"].size(), 5u);
  for (const auto& key : cold["keys"]) EXPECT_EQ(key["outcome"], "tuned") << key;
  const auto warm = json(words);
  EXPECT_EQ(warm["compiles"], 0);
  EXPECT_EQ(warm["timings"], 0);
  for (const auto& key : warm["keys"]) EXPECT_EQ(key["outcome"], "hit") << key;

  auto bench_words = words;
  bench_words.front() = "bench";
  const auto bench = json(bench_words);
  ASSERT_EQ(bench["rows"].size(), 1u);
  const auto& row = bench["rows"][0];
  EXPECT_EQ(row["name"], kEverythingSaid);
  // x, y and residual; weight and bias; two states of two sequences each.
  EXPECT_EQ(row["forward"]["bytes"], 3 * 8 * 2 + (4 + 1) * 4 + 2 * (2 * 4 * 2));
  // x, dy and dx; weight, bias and their gradients; the initial state, its gradient and that of the final one.
  EXPECT_EQ(row["backward"]["bytes"], 3 * 8 * 2 + 2 * (4 + 1) * 4 + 3 * (2 * 4 * 2));
  ASSERT_EQ(bench["kernels"].size(), 5u);
  for (const auto& kernel : bench["kernels"]) {
    EXPECT_GT(kernel["median_us"], 0);
    const auto name = kernel["kernel"].get<std::string>();
    EXPECT_EQ(kernel["of_copy"].is_null(), name == kFinal || name == kStateBwd) << kernel;
  }
  EXPECT_EQ(json(words)["timings"], 0) << "bench tuned what the warmup had tuned";
}

TEST_F(Contract, a_row_says_what_differs_and_has_the_bounds_of_what_is_packed) {
  const auto list = joined(joined({"bench"}, kShape), {"--list"});
  const auto plain = json(list)["rows"][0];
  EXPECT_EQ(plain["name"], "1x8x1");
  EXPECT_EQ(plain["activation"], "silu");
  EXPECT_EQ(plain["bias"], false);
  EXPECT_FALSE(plain.contains("cu_seqlens"));
  EXPECT_EQ(json(joined(list, {"--activation", "swish"}))["rows"][0], plain);

  const auto row = json(joined(list, kEverything))["rows"][0];
  EXPECT_EQ(row["name"], kEverythingSaid);
  EXPECT_EQ(row["activation"], "none");
  for (const char* flag : {"bias", "residual", "initial_state", "final_state"}) EXPECT_EQ(row[flag], true) << flag;
  EXPECT_EQ(row["layout"], "packed");
  EXPECT_EQ(row["sequences"], 2);
  EXPECT_EQ(row["cu_seqlens_type"], "int64");
  ASSERT_EQ(row["cu_seqlens"].size(), 3u);
  EXPECT_EQ(row["cu_seqlens"].front(), 0);
  EXPECT_EQ(row["cu_seqlens"].back(), 8);
}

TEST_F(Contract, what_can_not_be_meant_is_refused) {
  struct Case {
    std::vector<std::string> words;
    std::string says;
  };
  const std::vector<Case> cases{
      {{"--activation", "gelu"}, "--activation: 'gelu' is not known; choose from silu, none"},
      {{"--packed", "0"}, "--packed: 0 must be at least 1"},
      {{"--packed", "-1"}, "--packed: -1 must be at least 1"},
      {{"--packed", "2,3"}, "--packed: '2,3' is not one whole number"},
      {{"--packed", "some"}, "--packed: 'some' is not one whole number"},
      {{"--packed", "3000000000"}, "more than 2^20"},
      {{"--packed"}, "--packed: needs a value: --packed N"},
      {{"--packed", "2", "--cu-seqlens", "int16"}, "'int16' is not known; choose from int32, int64"},
      {{"--packed", "2", "--cu-seqlens", "fp32"}, "'fp32' is not known; choose from int32, int64"},
      {{"--cu-seqlens", "int64"}, "it goes with --packed"},
      {{"--cu-seqlens", "int32"}, "it goes with --packed"}};
  for (const auto& one : cases) {
    for (const auto& command : {joined({"warmup"}, kShape), joined(joined({"bench"}, kShape), {"--list"})}) {
      const auto ran = strop(joined(command, one.words));
      EXPECT_EQ(ran.exit_code, 2) << one.says;
      EXPECT_NE(ran.err.find(one.says), std::string::npos) << ran.err;
      EXPECT_EQ(ran.out, "");
    }
  }
  for (const std::vector<std::string>& command : {std::vector<std::string>{"warmup"}, {"bench"}, {"bench", "--list"}}) {
    const auto ran = strop(joined(command, {"causal_conv1d", "--B", "1,2", "--T", "8", "--D", "1", "--packed", "2"}));
    EXPECT_EQ(ran.exit_code, 2);
    EXPECT_NE(ran.err.find("B=2 was given"), std::string::npos) << ran.err;
  }
  for (const char* flag : {"--bias", "--residual", "--initial-state", "--final-state"}) {
    const auto ran = strop({"bench", "causal_conv1d", "--suite", "table", "--list", flag});
    EXPECT_EQ(ran.exit_code, 2) << flag;
    EXPECT_NE(ran.err.find("its own shapes"), std::string::npos) << ran.err;
  }
}

}  // namespace
}  // namespace strop::test
