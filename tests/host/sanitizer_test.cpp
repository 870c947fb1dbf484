// Kernels under sanitizers, each in a process of its own (sanitized_runner.cpp): what is wrong is found, and nothing is
// found in what is right.

#include <gtest/gtest.h>

#include <filesystem>
#include <ostream>

#include "tests/gpu/wrapper_cases.h"
#include "tests/host/child.h"

namespace strop::host_test {
namespace {

// Empty where this build can't have that sanitizer (it is itself built under the other).
const std::string kAddress = STROP_RUNNER_ADDRESS;
const std::string kThread = STROP_RUNNER_THREAD;

struct Finding {
  std::string function;
  std::string runner;
  std::vector<std::string> said;
};

void PrintTo(const Finding& finding, std::ostream* out) { *out << finding.function; }

class Sanitizer : public testing::TestWithParam<Finding> {};

TEST_P(Sanitizer, finds_the_fault_and_nothing_once_it_is_fixed) {
  const Finding& finding = GetParam();
  if (finding.runner.empty()) GTEST_SKIP() << "this build is under the other sanitizer";
  const ChildResult wrong = run_child({finding.runner, "fault", finding.function});
  EXPECT_NE(wrong.exit_code, 0);
  for (const std::string& words : finding.said) EXPECT_NE(wrong.output.find(words), std::string::npos) << wrong.output;
  const ChildResult right = run_child({finding.runner, "fault", finding.function, "fixed"});
  EXPECT_EQ(right.exit_code, 0) << right.output;
}

const std::string kRace = "WARNING: ThreadSanitizer: data race";
const std::string kOverflow = "heap-buffer-overflow";

INSTANTIATE_TEST_SUITE_P(
    address, Sanitizer,
    testing::Values(Finding{"reads_past_the_end", kAddress, {kOverflow, "READ of size 4", "faults.cuh:"}},
                    Finding{"writes_past_the_end", kAddress, {kOverflow, "WRITE of size 4", "faults.cuh:"}},
                    Finding{"shared_overrun", kAddress, {kOverflow, "WRITE of size 4", "faults.cuh:"}},
                    Finding{"dynamic_shared_overrun", kAddress, {kOverflow, "WRITE of size 4", "faults.cuh:"}},
                    Finding{"stack_overrun", kAddress, {"faults.cuh:"}}),
    [](const auto& tested) { return tested.param.function; });
INSTANTIATE_TEST_SUITE_P(thread, Sanitizer,
                         testing::Values(Finding{"missing_barrier", kThread, {kRace, "faults.cuh:"}},
                                         Finding{"missing_barrier_before_reuse", kThread, {kRace, "faults.cuh:"}},
                                         Finding{"async_copy_without_barrier", kThread, {kRace, "faults.cuh:"}},
                                         Finding{"ring_overrun", kThread, {kRace}}),
                         [](const auto& tested) { return tested.param.function; });

class CleanWrapper : public testing::TestWithParam<std::string> {};

TEST_P(CleanWrapper, has_no_finding_under_either_sanitizer) {
  for (const std::string& runner : {kAddress, kThread}) {
    if (runner.empty()) continue;
    const ChildResult result = run_child({runner, "wrapper", GetParam(), "--order", "random", "--seed", "3"});
    EXPECT_EQ(result.exit_code, 0) << runner << "\n" << result.output;
  }
}

// One of each structure: the rest differs in widths only.
INSTANTIATE_TEST_SUITE_P(all, CleanWrapper,
                         testing::Values("shuffle_width_8", "votes_and_reductions", "block_barrier",
                                         "named_barriers_between_producers_and_consumers", "atomics", "async_copy_16",
                                         "bulk_copies_and_mbarriers", "packs_of_16_bytes_hint_1", "mma_bf16",
                                         "wgmma_bf16", "ldmatrix_x4_transposed", "fp32_to_bf16_and_fp16"),
                         [](const auto& tested) { return tested.param; });

TEST(SanitizedProblem, a_right_candidate_is_clean_and_wrong_ones_are_found) {
  if (kAddress.empty() || kThread.empty()) GTEST_SKIP() << "this build is under one of the sanitizers itself";
  const auto run = [](const std::string& runner, const char* config) {
    return run_child({runner, "problem", "planted", config});
  };
  for (const std::string& runner : {kAddress, kThread}) {
    const ChildResult right = run(runner, "{plant=0, threads=64}");
    EXPECT_EQ(right.exit_code, 0) << right.output;
  }
  const ChildResult wrong = run(kAddress, "{plant=1, threads=64}");
  EXPECT_EQ(wrong.exit_code, 1) << wrong.output;
  const ChildResult outside = run(kAddress, "{plant=2, threads=64}");
  EXPECT_NE(outside.output.find(kOverflow), std::string::npos) << outside.output;
  const ChildResult racy = run(kThread, "{plant=4, threads=64}");
  EXPECT_NE(racy.output.find(kRace), std::string::npos) << racy.output;
}

TEST(SanitizedRunner, names_that_it_does_not_know_are_an_error) {
  const std::string& runner = kAddress.empty() ? kThread : kAddress;
  EXPECT_EQ(run_child({runner, "wrapper", "no_such_case"}).exit_code, 1);
  EXPECT_EQ(run_child({runner, "problem", "planted", "not a config"}).exit_code, 1);
  EXPECT_EQ(run_child({runner}).exit_code, 2);
  EXPECT_NE(run_child({runner, "list"}).output.find("problem planted"), std::string::npos);
}

}  // namespace
}  // namespace strop::host_test
