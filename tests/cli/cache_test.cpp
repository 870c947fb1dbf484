// The cache's subcommands on a machine without GPU, driver or NVRTC.

#include <fstream>

#include "tests/cli/command_fixture.h"

namespace strop::test {
namespace {

using Cache = Command;

TEST_F(Cache, without_a_cache_nothing_is_listed_and_nothing_is_made) {
  EXPECT_TRUE(json({"cache", "list"})["entries"].empty());
  EXPECT_EQ(json({"cache", "stats"})["winners"], 0);
  EXPECT_EQ(json({"cache", "verify"})["ok"], true);
  EXPECT_EQ(json({"cache", "path"})["exists"], false);
  EXPECT_EQ(json({"cache", "invalidate", "--all", "--yes"})["removed"], 0);
  EXPECT_FALSE(std::filesystem::exists(home_ / "cache"));
}

TEST_F(Cache, path_prints_the_path_alone_and_the_rule_beside_it) {
  const auto ran = strop({"cache", "path"});
  EXPECT_EQ(ran.out, cache_file() + "\n");
  EXPECT_NE(ran.err.find("STROP_CACHE"), std::string::npos) << ran.err;
}

TEST_F(Cache, the_option_goes_before_the_setting) {
  const auto other = (home_ / "other.db").string();
  EXPECT_EQ(strop({"--cache", other, "cache", "path"}).out, other + "\n");
  EXPECT_EQ(strop({"cache", "path", "--cache", other}).out, other + "\n");
}

TEST_F(Cache, an_empty_condition_is_refused_and_removes_nothing) {
  remember("causal_conv1d_fwd", 2048, "580.95.05");
  for (const char* option : {"--kernel", "--device", "--driver", "--key"})
    EXPECT_EQ(strop({"cache", "invalidate", option, "", "--older-than", "0d", "-y"}).exit_code, 2) << option;
  EXPECT_EQ(strop({"cache", "invalidate", "--kernel", "*", "--older-than", "", "-y"}).exit_code, 2);
  EXPECT_EQ(strop({"cache", "show", ""}).exit_code, 2);
  for (const char* driver : {"<=", "<>1", "!=5", "<abc"})
    EXPECT_EQ(strop({"cache", "list", "--driver", driver}).exit_code, 2) << driver;
  EXPECT_EQ(listed().size(), 1u);
}

TEST_F(Cache, path_is_printed_whatever_is_there) {
  const auto other = (home_ / "other.db").string();
  std::ofstream(other) << "no database";
  const auto ran = strop({"--cache", other, "cache", "path"});
  EXPECT_EQ(ran.exit_code, 0);
  EXPECT_EQ(ran.out, other + "\n");
}

TEST_F(Cache, a_file_size_limit_fails_with_a_sentence_and_no_signal) {
  remember("causal_conv1d_fwd", 2048, "580.95.05");
  const auto ran = run_program("/bin/sh", {"-c", "ulimit -f 0; exec \"$@\"", "sh", STROP_COMMAND, "cache", "invalidate", "--all", "-y"}, options_);
  EXPECT_EQ(ran.exit_code, 1) << ran.err;
  EXPECT_FALSE(ran.err.empty());
  EXPECT_EQ(listed().size(), 1u);
}

TEST_F(Cache, list_has_the_fields_that_programs_read) {
  remember("causal_conv1d_fwd", 2048, "580.95.05");
  const auto document = json({"cache", "list"});
  ASSERT_EQ(document["entries"].size(), 1u);
  const auto& entry = document["entries"][0];
  EXPECT_EQ(entry["kernel"], "causal_conv1d_fwd");
  EXPECT_EQ(entry["key"]["D"], 2048);
  EXPECT_EQ(entry["key"]["dtype"], "bf16");
  EXPECT_EQ(entry["winner"]["vec"], 8);
  EXPECT_DOUBLE_EQ(entry["median_us"], 100.5);
  EXPECT_EQ(entry["state"], "foreign");
  EXPECT_NE(entry["reason"], "");
  EXPECT_EQ(entry["driver"], "580.95.05");
  EXPECT_EQ(entry["compiler"], "nvrtc 13.0.88 (1a2b3c4d)");
  EXPECT_EQ(entry["device"], "NVIDIA H200");
  EXPECT_EQ(entry["tuned_at"], "2023-11-14T22:13:20Z");
}

TEST_F(Cache, show_lists_every_candidate_with_the_winner_marked) {
  remember("causal_conv1d_fwd", 2048, "580.95.05");
  const auto id = listed().at(0);
  const auto document = json({"cache", "show", id});
  const auto& trials = document["entries"][0]["trials"];
  ASSERT_EQ(trials.size(), 2u);
  EXPECT_EQ(trials[0]["won"], true);
  EXPECT_EQ(trials[0]["registers"], 48);
  EXPECT_EQ(trials[0]["spill_store_bytes"], 8);
  EXPECT_EQ(trials[0]["static_shared"], 1024);
  EXPECT_DOUBLE_EQ(trials[0]["spread_us"], 0.5);
  EXPECT_EQ(trials[1]["verdict"], "wrong_result");
  EXPECT_TRUE(trials[1]["median_us"].is_null());
  const auto text = strop({"cache", "show", id}).out;
  EXPECT_NE(text.find("*  {rows=64, vec=8}"), std::string::npos) << text;
  EXPECT_NE(text.find("y[3]: 1 instead of 2"), std::string::npos) << text;
}

TEST_F(Cache, a_key_is_an_id_in_part_or_fields) {
  remember("causal_conv1d_fwd", 2048, "580.95.05");
  remember("causal_conv1d_fwd", 4096, "580.95.05");
  const auto whole = json({"cache", "list", "--key", "D=4096"})["entries"][0]["id"].get<std::string>();
  EXPECT_EQ(json({"cache", "show", whole.substr(0, 6)})["entries"][0]["key"]["D"], 4096);
  EXPECT_EQ(json({"cache", "show", "D=2048", "W=4"})["entries"].size(), 1u);
  EXPECT_EQ(json({"cache", "show", "W=4"})["entries"].size(), 2u);
  EXPECT_EQ(strop({"cache", "show", "D=1"}).exit_code, 1);
  EXPECT_EQ(strop({"cache", "show", "what?"}).exit_code, 2);
}

TEST_F(Cache, explain_names_the_nearest_entry_and_what_differs) {
  remember("causal_conv1d_fwd", 2048, "580.95.05");
  remember("causal_conv1d_fwd", 4096, "580.95.05");
  const auto document =
      json({"cache", "explain", "causal_conv1d_fwd", "B=16", "T=8192", "D=3584", "W=4", "dtype=bf16"});
  ASSERT_EQ(document["matches"].size(), 1u);
  const auto& match = document["matches"][0];
  EXPECT_EQ(match["key"]["D"], 4096);
  EXPECT_EQ(match["hit"], false);
  EXPECT_EQ(match["differences"][0]["field"], "D");
  EXPECT_EQ(match["differences"][0]["asked"], "3584");
  EXPECT_EQ(match["differences"][0]["stored"], "4096");
}

TEST_F(Cache, stats_count_by_kernel) {
  remember("causal_conv1d_fwd", 2048, "580.95.05");
  remember("causal_conv1d_bwd", 2048, "580.95.05");
  const auto document = json({"cache", "stats"});
  EXPECT_EQ(document["winners"], 2);
  EXPECT_EQ(document["trials"], 4);
  EXPECT_EQ(document["kernels"].size(), 2u);
  EXPECT_GT(document["file_bytes"], 0);
}

TEST_F(Cache, nothing_is_destroyed_unasked_without_a_terminal) {
  remember("causal_conv1d_fwd", 2048, "580.95.05");
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"cache", "invalidate", "--all"}, {"cache", "prune"}}) {
    const auto ran = strop(words);
    EXPECT_EQ(ran.exit_code, 2);
    EXPECT_NE(ran.err.find("--yes"), std::string::npos) << ran.err;
  }
  EXPECT_EQ(listed().size(), 1u);
}

TEST_F(Cache, a_dry_run_shows_exactly_what_would_go) {
  remember("causal_conv1d_fwd", 2048, "580.95.05");
  remember("causal_conv1d_fwd", 4096, "590.44.01");
  const auto document = json({"cache", "invalidate", "--driver", "<590", "--dry-run"});
  EXPECT_EQ(document["dry_run"], true);
  EXPECT_EQ(document["removed"], 0);
  ASSERT_EQ(document["entries"].size(), 1u);
  EXPECT_EQ(document["entries"][0]["driver"], "580.95.05");
  EXPECT_EQ(listed().size(), 2u);
}

TEST_F(Cache, invalidate_throws_out_exactly_what_it_names) {
  remember("causal_conv1d_fwd", 2048, "580.95.05");
  remember("causal_conv1d_fwd", 4096, "590.44.01");
  remember("causal_conv1d_bwd", 2048, "590.44.01");
  remember("rms_norm", 512, "590.44.01", 4000000000);
  EXPECT_EQ(json({"cache", "invalidate", "--driver", "<590", "--yes"})["removed"], 1);
  EXPECT_EQ(listed().size(), 3u);
  EXPECT_EQ(json({"cache", "invalidate", "--kernel", "causal_*", "--older-than", "30d", "--key", "D=4096",
                  "--yes"})["removed"],
            1);
  EXPECT_EQ(json({"cache", "invalidate", "--older-than", "30d", "--yes"})["removed"], 1);
  EXPECT_EQ(json({"cache", "invalidate", "--device", "A100", "--yes"})["removed"], 0);
  EXPECT_EQ(json({"cache", "list"})["entries"][0]["kernel"], "rms_norm");
  EXPECT_EQ(json({"cache", "invalidate", "--all", "--yes"})["removed"], 1);
  EXPECT_TRUE(listed().empty());
}

TEST_F(Cache, tunings_without_a_winner_are_told_shown_and_thrown_out) {
  remember("causal_conv1d_fwd", 2048, "580.95.05");
  interrupt("causal_conv1d_bwd", 2048, "580.95.05");
  interrupt("causal_conv1d_bwd", 4096, "590.44.01");
  const auto document = json({"cache", "list"});
  EXPECT_EQ(document["entries"].size(), 1u);
  ASSERT_EQ(document["unfinished"].size(), 2u);
  EXPECT_EQ(document["unfinished"][0]["kernel"], "causal_conv1d_bwd");
  EXPECT_EQ(document["unfinished"][0]["key"]["D"], 2048);
  EXPECT_EQ(document["unfinished"][0]["trials"], 1);
  EXPECT_EQ(document["unfinished"][0]["last_trial_at"], "2023-11-14T22:13:20Z");
  EXPECT_NE(strop({"cache", "list"}).err.find("--unfinished"), std::string::npos);
  const auto page = strop({"cache", "list", "--unfinished", "--key", "D=4096"});
  EXPECT_NE(page.out.find("D=4096"), std::string::npos) << page.out;
  EXPECT_EQ(page.out.find("D=2048"), std::string::npos) << page.out;
  EXPECT_EQ(json({"cache", "invalidate", "--stale", "--dry-run"})["unfinished"].size(), 0u);
  EXPECT_EQ(json({"cache", "invalidate", "--driver", "<590", "--dry-run"})["unfinished"].size(), 1u);
  EXPECT_EQ(json({"cache", "invalidate", "--driver", ">=590", "--yes"})["removed"], 1);
  EXPECT_EQ(json({"cache", "list"})["unfinished"].size(), 1u);
  EXPECT_EQ(json({"cache", "invalidate", "--all", "--yes"})["removed"], 2);
  EXPECT_TRUE(json({"cache", "list"})["unfinished"].empty());
}

TEST_F(Cache, invalidate_wants_to_know_which) {
  EXPECT_EQ(strop({"cache", "invalidate", "--yes"}).exit_code, 2);
  EXPECT_EQ(strop({"cache", "invalidate", "--all", "--kernel", "x", "--yes"}).exit_code, 2);
  EXPECT_EQ(strop({"cache", "invalidate", "--older-than", "30", "--yes"}).exit_code, 2);
}

TEST_F(Cache, on_a_terminal_the_user_is_asked) {
  remember("causal_conv1d_fwd", 2048, "580.95.05");
  auto options = options_;
  options.err = Output::terminal;
  options.input_is_terminal = true;
  options.input = "n\n";
  EXPECT_EQ(strop({"cache", "invalidate", "--all"}, options).exit_code, 1);
  EXPECT_EQ(listed().size(), 1u);
  options.input = "y\n";
  const auto ran = strop({"cache", "invalidate", "--all"}, options);
  EXPECT_EQ(ran.exit_code, 0);
  EXPECT_NE(ran.err.find("[y/N]"), std::string::npos) << ran.err;
  EXPECT_TRUE(listed().empty());
}

TEST_F(Cache, prune_gives_space_back) {
  remember("causal_conv1d_fwd", 2048, "580.95.05");
  EXPECT_EQ(json({"cache", "prune", "--dry-run"})["freed_bytes"], 0);
  EXPECT_EQ(json({"cache", "prune", "--yes", "--max-size", "1GiB"})["max_bytes"], 1 << 30);
  EXPECT_EQ(listed().size(), 1u);
  EXPECT_EQ(strop({"cache", "prune", "--yes", "--max-size", "much"}).exit_code, 2);
}

TEST_F(Cache, a_dry_run_of_prune_lists_what_a_prune_then_removes) {
  remember("causal_conv1d_fwd", 2048, "580.95.05");
  remember("causal_conv1d_bwd", 2048, "580.95.05");
  const auto nothing = json({"cache", "prune", "--dry-run"});
  EXPECT_TRUE(nothing["entries"].empty());
  EXPECT_TRUE(nothing["binaries"].empty());
  const auto everything = json({"cache", "prune", "--dry-run", "--max-size", "1K"});
  EXPECT_EQ(everything["entries"].size(), 2u) << everything;
  EXPECT_EQ(everything["trials"], 4);
  const auto page = strop({"cache", "prune", "--dry-run", "--max-size", "1K"});
  EXPECT_NE(page.out.find("causal_conv1d_bwd"), std::string::npos) << page.out;
  EXPECT_NE(page.out.find("2 entries, 0 binaries and 4 trials would go"), std::string::npos) << page.out;
  EXPECT_EQ(listed().size(), 2u);
  EXPECT_EQ(json({"cache", "prune", "--yes", "--max-size", "1K"})["freed_bytes"], everything["would_free_bytes"]);
  EXPECT_TRUE(listed().empty());
}

TEST_F(Cache, verify_says_that_a_damaged_file_is_damaged) {
  remember("causal_conv1d_fwd", 2048, "580.95.05");
  EXPECT_EQ(json({"cache", "verify"})["ok"], true);
  std::filesystem::remove(cache_file() + "-wal");
  std::ofstream(cache_file(), std::ios::trunc)
      << "this is no database, whatever its name says; and it is long enough to be read";
  for (const std::string word : {"verify", "list", "stats"}) {
    const auto ran = strop({"cache", word});
    EXPECT_EQ(ran.exit_code, 1) << ran.out << ran.err;
    EXPECT_NE(ran.err.find("can't be read as a cache"), std::string::npos) << ran.err;
  }
  const auto advice = json({"doctor"})["advice"].dump();
  EXPECT_NE(advice.find("can't be read as a cache"), std::string::npos) << advice;
  EXPECT_EQ(strop({"cache", "verify", "--repair"}).exit_code, 0);
  EXPECT_EQ(json({"cache", "verify"})["ok"], true);
}

TEST_F(Cache, revalidate_leaves_alone_what_is_not_here) {
  remember("causal_conv1d_fwd", 2048, "580.95.05");
  const auto document = json({"cache", "revalidate"});
  EXPECT_TRUE(document["keys"].empty());
  EXPECT_EQ(document["timings"], 0);
}

}  // namespace
}  // namespace strop::test
