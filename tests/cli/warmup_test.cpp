// The whole loop through the command, on the host device: real templates, compiled by the system's compiler.

#include "tests/cli/command_fixture.h"

namespace strop::test {
namespace {

using Warmup = Command;

const std::vector<std::string> kWarmup{"warmup", "causal_conv1d", "--device", "host", "--B", "1", "--T",
                                       "24",     "--D",           "16",       "--W",  "4"};

TEST_F(Warmup, a_second_process_finds_everything) {
  const auto cold = json(kWarmup);
  EXPECT_GT(cold["compiles"], 0);
  EXPECT_GT(cold["timings"], 0);
  EXPECT_GE(cold["elapsed_s"], 0);
  EXPECT_NE(cold["device"], "");
  ASSERT_FALSE(cold["keys"].empty());
  for (const auto& key : cold["keys"]) {
    EXPECT_EQ(key["outcome"], "tuned") << key;
    EXPECT_EQ(key["key"]["D"], 16);
    EXPECT_EQ(key["key"]["W"], 4);
    EXPECT_EQ(key["key"]["T"], 24);
    EXPECT_EQ(key["key"]["B"], 1);
    EXPECT_EQ(key["key"]["dtype"], "bf16");
    EXPECT_GT(key["candidates"], 1);
    EXPECT_TRUE(key["winner"].is_object());
    EXPECT_GT(key["median_us"], 0);
    EXPECT_TRUE(key.contains("rejected"));
    EXPECT_TRUE(key.contains("kernel"));
  }

  const auto warm = json(kWarmup);
  EXPECT_EQ(warm["compiles"], 0);
  EXPECT_EQ(warm["timings"], 0);
  ASSERT_EQ(warm["keys"].size(), cold["keys"].size());
  for (std::size_t i = 0; i < warm["keys"].size(); ++i) {
    EXPECT_EQ(warm["keys"][i]["outcome"], "hit");
    EXPECT_EQ(warm["keys"][i]["winner"], cold["keys"][i]["winner"]);
    EXPECT_EQ(warm["keys"][i]["median_us"], cold["keys"][i]["median_us"]);
  }

  auto bench_words = kWarmup;
  bench_words.front() = "bench";
  const auto bench = json(bench_words);
  ASSERT_EQ(bench["kernels"].size(), cold["keys"].size());
  for (const auto& kernel : bench["kernels"]) {
    EXPECT_GT(kernel["median_us"], 0);
    EXPECT_GT(kernel["copy_us"], 0);
    EXPECT_GT(kernel["of_add"], 0);
  }

  const auto list = json({"cache", "list"});
  ASSERT_EQ(list["entries"].size(), cold["keys"].size());
  for (const auto& entry : list["entries"]) EXPECT_EQ(entry["state"], "current") << entry;
  EXPECT_EQ(json({"cache", "verify"})["ok"], true);
}

TEST_F(Warmup, tells_people_in_a_table_and_draws_a_bar_only_on_a_terminal) {
  auto options = options_;
  options.err = Output::terminal;
  auto words = kWarmup;
  words.insert(words.end(), {"--budget", "600"});
  const auto cold = strop(words, options);
  EXPECT_EQ(cold.exit_code, 0) << cold.err;
  EXPECT_NE(cold.out.find("kernel"), std::string::npos);
  EXPECT_NE(cold.out.find(" tuned in "), std::string::npos) << cold.out;
  EXPECT_EQ(cold.out.find("judged"), std::string::npos) << cold.out;
  EXPECT_NE(cold.err.find("judged"), std::string::npos) << cold.err;
  EXPECT_EQ(cold.err.substr(cold.err.size() - 4), "\r\033[K") << "the bar is wiped";

  ASSERT_EQ(strop({"cache", "invalidate", "--kernel", "*_dw_reduce", "--yes"}).exit_code, 0);
  const auto piped = strop(words);
  EXPECT_EQ(piped.exit_code, 0) << piped.err;
  EXPECT_NE(piped.out.find("1 tuned, 2 hit in "), std::string::npos) << piped.out;
  EXPECT_EQ(piped.err, "") << "a progress bar without a terminal";
}

TEST_F(Warmup, an_unsupported_shape_is_refused_with_its_reason) {
  auto words = kWarmup;
  words.back() = "4096";
  const auto ran = strop(words);
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_NE(ran.err.find("W=4096"), std::string::npos) << ran.err;
}

TEST_F(Warmup, a_gpu_that_is_not_there_is_said_to_be_missing) {
  const auto document = json({"warmup", "causal_conv1d", "--device", "cuda", "--B", "1", "--T", "24", "--D", "16"}, 1);
  EXPECT_NE(document["error"].get<std::string>().find("no-libcuda.so.1"), std::string::npos) << document;
}

TEST_F(Warmup, without_nvrtc_compile_only_says_what_to_install) {
  const auto ran =
      strop({"warmup", "causal_conv1d", "--B", "1", "--T", "24", "--D", "16", "--compile-only", "--arch", "sm_90"});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_NE(ran.err.find("no-nvrtc"), std::string::npos) << ran.err;
}

TEST_F(Warmup, memory_that_runs_out_is_an_error_and_not_the_end_of_the_process) {
  for (const char* kib : {"120000", "200000", "300000", "450000"}) {
    const auto ran = run_program("/bin/sh",
                                 {"-c", std::string("ulimit -v ") + kib + "; exec \"$@\"", "sh", STROP_COMMAND, "warmup", "causal_conv1d", "--B", "1",
                                  "--T", "8", "--D", "8", "--device", "host", "--budget", "5"},
                                 options_);
    EXPECT_LE(ran.exit_code, 1) << kib << ": " << ran.err;
  }
}

}  // namespace
}  // namespace strop::test
