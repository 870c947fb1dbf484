// What is refused or fails: the sentence on standard error, the document on standard output, the exit code.

#include <nlohmann/json.hpp>

#include "tests/cli/command_fixture.h"

namespace strop::test {
namespace {

using Refusal = Command;

const std::vector<std::string> kShape{"warmup", "causal_conv1d", "--device", "host", "--B",
                                      "1",      "--T",           "8",        "--D",  "8"};

std::vector<std::string> with(std::vector<std::string> words, const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST_F(Refusal, names_the_option_and_what_would_be_right) {
  struct Case {
    std::vector<std::string> words;
    std::string says;
  };
  const std::vector<Case> cases{
      {with(kShape, {"--B", "2"}), "--B is given 2 times: give it once"},
      {with(kShape, {"--W"}), "--W: needs a value: --W N,..."},
      {with(kShape, {"--W", "--dtype", "bf16"}), "--W: needs a value, and --dtype is an option"},
      {with(kShape, {"--json=abc"}), "--json takes no value, and 'abc' was given"},
      {with(kShape, {"--compile-only=maybe"}), "--compile-only takes no value"},
      {with(kShape, {"extra"}), "'extra' is not known here"},
      {with(kShape, {"--bogus=3"}), "'--bogus=3' is not known here"},
      {{"warmup", "causal_conv1d", "--T", "8", "--D", "8"}, "--B is needed"},
      {{"cache", "show"}, "KEY is needed"},
      {{"cache", "list", "--kernel"}, "--kernel: needs a value: --kernel NAME"},
  };
  for (const auto& one : cases) {
    const auto ran = strop(one.words);
    EXPECT_EQ(ran.exit_code, 2) << one.says;
    EXPECT_NE(ran.err.find(one.says), std::string::npos) << ran.err;
    EXPECT_NE(ran.err.find("--help` says more"), std::string::npos) << ran.err;
  }
}

TEST_F(Refusal, of_a_shape_has_one_exit_code_whatever_the_number) {
  for (const char* taps : {"0", "9", "4096", "1099511627777"})
    EXPECT_EQ(strop(with(kShape, {"--W", taps})).exit_code, 2) << taps;
  for (const char* sequences : {"2147483648", "9223372036854775808"})
    EXPECT_EQ(
        strop({"warmup", "causal_conv1d", "--device", "host", "--B", sequences, "--T", "8", "--D", "8"}).exit_code, 2)
        << sequences;
}

TEST_F(Refusal, with_json_a_failure_says_why_in_the_document_and_on_standard_error) {
  remember("causal_conv1d_fwd", 2048, "580.95.05");
  const std::vector<std::vector<std::string>> failing{
      {"doctor", "--require-gpu"},
      {"cache", "show", "D=1"},
      {"cache", "explain", "rms_norm"},
      {"warmup", "causal_conv1d", "--device", "cuda", "--B", "1", "--T", "8", "--D", "8"},
      {"bench", "causal_conv1d", "--device", "cuda", "--B", "1", "--T", "8", "--D", "8"}};
  for (auto words : failing) {
    words.emplace_back("--json");
    const auto ran = strop(words);
    EXPECT_EQ(ran.exit_code, 1) << words[1];
    const auto document = nlohmann::json::parse(ran.out, nullptr, false);
    ASSERT_FALSE(document.is_discarded()) << ran.out;
    EXPECT_FALSE(document.value("error", "").empty()) << document;
    EXPECT_FALSE(ran.err.empty()) << words[1];
  }
}

TEST_F(Refusal, when_the_user_says_no_is_told_and_has_a_document) {
  remember("causal_conv1d_fwd", 2048, "580.95.05");
  auto options = options_;
  options.err = Output::terminal;
  options.input_is_terminal = true;
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"cache", "invalidate", "--all"}, {"cache", "prune"}}) {
    options.input = "n\n";
    const auto text = strop(words, options);
    EXPECT_EQ(text.exit_code, 1);
    EXPECT_NE(text.err.find("nothing was removed"), std::string::npos) << text.err;
    options.input = "\x04";  // the end of what is typed
    const auto document = nlohmann::json::parse(strop(with(words, {"--json"}), options).out, nullptr, false);
    ASSERT_FALSE(document.is_discarded());
    EXPECT_NE(document.value("error", "").find("nothing was removed"), std::string::npos) << document;
  }
  EXPECT_EQ(listed().size(), 1u);
}

TEST_F(Refusal, a_failing_warmup_says_on_standard_error_what_failed) {
  options_.environment["STROP_CXX"] = "/bin/true";
  const auto ran = strop(kShape);
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_NE(ran.err.find("strop: "), std::string::npos) << ran.err;
  EXPECT_NE(ran.err.find("causal_conv1d"), std::string::npos) << ran.err;
  const auto with_json = strop(with(kShape, {"--json"}));
  EXPECT_FALSE(nlohmann::json::parse(with_json.out).value("error", "").empty());
  EXPECT_NE(with_json.err.find("strop: "), std::string::npos) << with_json.err;
}

}  // namespace
}  // namespace strop::test
