// The command line itself: help, choices, exit codes, streams.

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <tuple>

#include "tests/cli/command_fixture.h"

namespace strop::test {
namespace {

using Usage = Command;

std::string text_of(const std::string& file) {
  std::ifstream in(std::string(STROP_SOURCE_ROOT) + "/" + file);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

TEST_F(Usage, docs_cli_md_is_what_the_command_says_of_itself) {
  EXPECT_EQ(strop({"manual"}).out, text_of("docs/cli.md"));
}

TEST_F(Usage, docs_settings_md_is_the_table_of_settings) {
  EXPECT_EQ(strop({"doctor", "--settings-markdown"}).out, text_of("docs/settings.md"));
}

TEST_F(Usage, help_goes_to_standard_output_and_is_done) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"--help"}, {"warmup", "--help"}, {"cache", "list", "-h"}}) {
    const auto ran = strop(words);
    EXPECT_EQ(ran.exit_code, 0);
    EXPECT_NE(ran.out.find("Usage: strop"), std::string::npos) << ran.out;
    EXPECT_EQ(ran.err, "");
  }
}

TEST_F(Usage, the_version_is_the_projects) { EXPECT_EQ(strop({"--version"}).out, "strop " STROP_VERSION "\n"); }

TEST_F(Usage, without_a_subcommand_the_choices_are_named) {
  const auto ran = strop({});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_EQ(ran.out, "");
  EXPECT_NE(ran.err.find("warmup, "), std::string::npos) << ran.err;
}

TEST_F(Usage, an_unknown_word_is_answered_with_the_choices) {
  const auto top = strop({"wramup"});
  EXPECT_EQ(top.exit_code, 2);
  EXPECT_NE(top.err.find("wramup"), std::string::npos) << top.err;
  EXPECT_NE(top.err.find("warmup, bench, cache"), std::string::npos) << top.err;
  const auto below = strop({"cache", "lst"});
  EXPECT_EQ(below.exit_code, 2);
  EXPECT_NE(below.err.find("list, show"), std::string::npos) << below.err;
  const auto op = strop({"warmup", "cusal_conv1d", "--B", "1", "--T", "8", "--D", "8"});
  EXPECT_EQ(op.exit_code, 2);
  EXPECT_NE(op.err.find("choose from causal_conv1d"), std::string::npos) << op.err;
}

TEST_F(Usage, with_json_a_refusal_is_one_document_too) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"warmup", "--json"}, {"bench", "--json"}, {"--json"}, {"cache", "show", "--json"}, {"templates", "--json", "extra"},
        {"warmup", "causal_conv1d", "--B", "1", "--T", "8", "--D", "8", "--bogus", "--json"}, {"cache", "list", "--json", "--kernel="}}) {
    const auto ran = strop(words);
    EXPECT_EQ(ran.exit_code, 2) << words.back();
    const auto document = nlohmann::json::parse(ran.out);
    EXPECT_EQ(document["schema"], 1);
    EXPECT_FALSE(document["error"].get<std::string>().empty());
  }
}

TEST_F(Usage, an_empty_value_is_refused_and_takes_no_other_word) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"warmup", "causal_conv1d", "--B=", "--T=8", "--D=8"}, {"warmup", "causal_conv1d", "--B", "1", "--T", "8", "--D", "8", "--budget", ""},
        {"cache", "show", ""}, {"--cache", "", "cache", "list"}, {"cache", "prune", "--max-size", ""}}) {
    const auto ran = strop(words);
    EXPECT_EQ(ran.exit_code, 2) << words.back();
    EXPECT_NE(ran.err.find("needs a value"), std::string::npos) << ran.err;
  }
}

TEST_F(Usage, settings_that_can_not_be_meant_are_told_with_the_remedy) {
  for (const auto& [variable, value, remedy] : {std::tuple("STROP_CACHE_MAX_MIB", "abc", "whole number"), {"STROP_HOST_THREADS", "-1", "whole number"},
                                                {"STROP_LOG", "loud", "off error warn"}, {"STROP_DEVICE", "gpu", "cuda:N"},
                                                {"STROP_CASHE", "/tmp", "no setting"}}) {
    auto options = options_;
    options.environment[variable] = value;
    const auto ran = strop({"doctor"}, options);
    EXPECT_EQ(ran.exit_code, 1) << variable;
    EXPECT_NE(ran.err.find(variable), std::string::npos) << ran.err;
    EXPECT_NE(ran.err.find(remedy), std::string::npos) << ran.err;
  }
}

TEST_F(Usage, options_that_have_no_meaning_together_are_refused) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"doctor", "--settings-markdown", "--json"}, {"doctor", "--settings-markdown", "--require-gpu"},
        {"warmup", "causal_conv1d", "--B", "1", "--T", "8", "--D", "8", "--compile-only", "--arch", "sm_90", "--device", "host"}})
    EXPECT_EQ(strop(words).exit_code, 2) << words[1];
}

TEST_F(Usage, an_unknown_option_is_refused) {
  const auto ran = strop({"cache", "list", "--colour"});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_NE(ran.err.find("--colour"), std::string::npos) << ran.err;
}

// What is wrong with a value, and a word that the answer must have.
struct BadValue {
  std::vector<std::string> words;
  std::string says;
};

TEST_F(Usage, every_value_is_checked) {
  const std::vector<std::string> shape{"warmup", "causal_conv1d", "--B", "1", "--T", "8", "--device", "host"};
  const std::vector<BadValue> cases{{{"--D", "0"}, "at least 1"},
                                    {{"--D", "-8"}, "at least 1"},
                                    {{"--D", "eight"}, "not a whole number"},
                                    {{"--D", "8.5"}, "not a whole number"},
                                    {{"--D", "8,"}, "not a whole number"},
                                    {{"--D", "99999999999999999999"}, "too large"},
                                    {{"--D", "1099511627777"}, "too large"},
                                    {{"--D", ""}, "needs a value"},
                                    {{"--D", "8", "--W", "x"}, "--W"},
                                    {{"--D", "8", "--dtype", "fp8"}, "bf16, fp16, fp32"},
                                    {{"--D", "8", "--wdtype", "int32"}, "bf16, fp16, fp32"},
                                    {{"--D", "8", "--budget", "0"}, "more than 0"},
                                    {{"--D", "8", "--budget", "-1"}, "more than 0"},
                                    {{"--D", "8", "--budget", "soon"}, "number of seconds"},
                                    {{"--D", "8", "--budget", "nan"}, "number of seconds"},
                                    {{"--D", "8", "--device", "gpu"}, "auto, cuda, cuda:N, host"},
                                    {{"--D", "8", "--device", "cuda:"}, "cuda:N"},
                                    {{"--D", "8", "--arch", "sm_90"}, "--compile-only"},
                                    {{"--D", "8", "--compile-only"}, "--arch"},
                                    {{"--D", "8", "--compile-only", "--device", "auto", "--arch", "90"}, "sm_90"}};
  for (const auto& bad : cases) {
    auto words = shape;
    words.insert(words.end(), bad.words.begin(), bad.words.end());
    if (words.size() > 8 && std::count(words.begin(), words.end(), "--device") > 1)
      words.erase(words.begin() + 6, words.begin() + 8);
    const auto ran = strop(words);
    EXPECT_EQ(ran.exit_code, 2) << bad.words.back() << ": " << ran.err;
    EXPECT_NE(ran.err.find(bad.says), std::string::npos) << bad.words.back() << ": " << ran.err;
    EXPECT_EQ(ran.out, "");
  }
}

TEST_F(Usage, what_is_needed_is_asked_for) {
  const auto ran = strop({"warmup", "causal_conv1d", "--B", "1", "--D", "8"});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_NE(ran.err.find("--T"), std::string::npos) << ran.err;
}

TEST_F(Usage, a_failure_has_a_json_document_too) {
  const auto document = json({"cache", "show", "abcd1234"}, 1);
  EXPECT_NE(document["error"].get<std::string>().find("no cache"), std::string::npos) << document;
}

TEST_F(Usage, a_reader_that_goes_away_is_no_error) {
  auto options = options_;
  options.out = Output::closed;
  const auto ran = strop({"templates"}, options);
  EXPECT_EQ(ran.exit_code, 0);
  EXPECT_EQ(ran.err, "");
}

TEST_F(Usage, a_full_disk_behind_standard_output_is_an_error) {
  auto options = options_;
  options.out = Output::full;
  const auto ran = strop({"templates"}, options);
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_NE(ran.err.find("standard output could not be written"), std::string::npos) << ran.err;
}

TEST_F(Usage, colours_are_for_terminals_that_want_them) {
  EXPECT_EQ(strop({"templates"}).out.find('\033'), std::string::npos);
  auto options = options_;
  options.out = Output::terminal;
  EXPECT_NE(strop({"templates"}, options).out.find('\033'), std::string::npos);
  options.environment["NO_COLOR"] = "1";
  EXPECT_EQ(strop({"templates"}, options).out.find('\033'), std::string::npos);
}

}  // namespace
}  // namespace strop::test
