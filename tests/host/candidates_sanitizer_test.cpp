// The candidates of causal_conv1d under sanitizers, many to a process (space_run.h): every config of every kernel under AddressSanitizer
// and UBSan, every way to synchronise under ThreadSanitizer, and faults planted in the templates, so that it is known that they are seen.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <ostream>

#include "tests/host/child.h"

namespace strop::host_test {
namespace {

const std::string kAddress = STROP_RUNNER_ADDRESS;
const std::string kThread = STROP_RUNNER_THREAD;

// Cases of one process. Those whose constants are equal (T is none) share their binaries, and compiling is what costs.
struct Sanitized {
  std::string name;
  std::string kernel;
  std::vector<std::string> cases;
  std::string distinct;  // empty: the whole space; else one candidate of each combination of these parameters
};

void PrintTo(const Sanitized& one, std::ostream* out) { *out << one.name; }

const auto kNameOf = [](const auto& tested) { return tested.param.name; };

ChildResult run_space(const std::string& runner, const Sanitized& one, const std::vector<std::string>& options) {
  std::vector<std::string> command{runner, "space"};
  for (const auto& name : one.cases) command.push_back(one.kernel + ':' + name);
  if (!one.distinct.empty()) command.insert(command.end(), {"--distinct", one.distinct});
  command.insert(command.end(), options.begin(), options.end());
  return run_child(command);
}

class AddressSanitized : public testing::TestWithParam<Sanitized> {};

TEST_P(AddressSanitized, candidates_have_no_finding) {
  if (kAddress.empty()) GTEST_SKIP() << "this build is under the other sanitizer";
  const ChildResult result = run_space(kAddress, GetParam(), {"--order", "reverse"});
  EXPECT_EQ(result.exit_code, 0) << result.output;
}

const std::vector<std::string> kSizes{"a_ragged_end", "one_token", "fewer_tokens_than_taps"};
const std::vector<std::string> kStates{"states",
                                       "states_of_one_token",
                                       "states_and_fewer_tokens_than_taps",
                                       "states_of_taps_7",
                                       "states_with_strides",
                                       "packed_states",
                                       "packed_states_bias_and_residual"};

// The whole space where the sizes are the point; elsewhere one candidate of each way to bring and to share rows, the first in its
// declared order: all of them on all cases is three quarters of an hour of compiling on one core. Threads and blocks a multiprocessor
// change neither addresses nor edges of a thread.
INSTANTIATE_TEST_SUITE_P(
    Forward, AddressSanitized,
    testing::Values(Sanitized{"sizes", "conv_fwd", kSizes, ""}, Sanitized{"whole_units", "conv_fwd", {"whole_units"}, ""},
                    Sanitized{"odd_channels", "conv_fwd", {"channels_7", "channels_20"}, ""},
                    Sanitized{"strided_and_offset",
                              "conv_fwd",
                              {"rows_at_a_pitch_of_three_D", "channel_first_tensors", "tensors_at_an_odd_element"},
                              ""},
                    Sanitized{"sequences",
                              "conv_fwd",
                              {"packed_ragged", "packed_odd_channels", "states_with_strides", "packed_states_bias_and_residual"},
                              "vec"},
                    Sanitized{"taps", "conv_fwd", {"taps_1", "taps_8"}, "vec"}),
    kNameOf);

const std::string kRowSources = "staging,strips";
INSTANTIATE_TEST_SUITE_P(
    Backward, AddressSanitized,
    testing::Values(Sanitized{"sizes", "conv_bwd", kSizes, ""}, Sanitized{"whole_units", "conv_bwd", {"whole_units"}, kRowSources},
                    Sanitized{"odd_channels_and_offset", "conv_bwd", {"channels_7", "tensors_at_an_odd_element"}, ""},
                    Sanitized{"strided",
                              "conv_bwd",
                              {"rows_at_a_pitch_of_three_D", "channel_first_tensors", "channels_20", "dy_is_one_expanded_element"},
                              kRowSources},
                    Sanitized{"packed", "conv_bwd", {"packed_ragged", "packed_odd_channels"}, kRowSources},
                    Sanitized{"states", "conv_bwd", {"states_with_strides", "packed_states_bias_and_residual"}, kRowSources},
                    Sanitized{"pairs", "conv_bwd", {"pairs_of_an_odd_number_of_units", "pairs_of_channels_7"}, kRowSources},
                    Sanitized{"twos", "conv_bwd", {"twos_of_an_odd_number_of_units"}, kRowSources},
                    Sanitized{"eights", "conv_bwd", {"eights_of_a_ragged_end", "eights_of_channels_7"}, kRowSources},
                    Sanitized{"taps", "conv_bwd", {"taps_1", "taps_8"}, kRowSources}),
    kNameOf);

INSTANTIATE_TEST_SUITE_P(Reduction, AddressSanitized,
                         testing::Values(Sanitized{"all",
                                                   "conv_dw_reduce",
                                                   {"a_ragged_end", "one_token", "fewer_tokens_than_taps", "channels_7", "bias",
                                                    "pairs_of_an_odd_number_of_units"},
                                                   ""}),
                         kNameOf);
INSTANTIATE_TEST_SUITE_P(States, AddressSanitized,
                         testing::Values(Sanitized{"final_state", "conv_final_state", kStates, ""},
                                         Sanitized{"state_bwd", "conv_state_bwd", kStates, ""}),
                         kNameOf);

class ThreadSanitized : public testing::TestWithParam<Sanitized> {};

TEST_P(ThreadSanitized, candidates_have_no_race) {
  if (kThread.empty()) GTEST_SKIP() << "this build is under the other sanitizer";
  const ChildResult result = run_space(kThread, GetParam(), {"--order", "random", "--seed", "3"});
  EXPECT_EQ(result.exit_code, 0) << result.output;
}

// What decides who waits for whom: where rows come from and how many strips share a piece, whether a block has two pieces, whether a warp
// looks for its sequence; in the reduction how many threads share a column. Forward and states have no barrier.
INSTANTIATE_TEST_SUITE_P(
    All, ThreadSanitized,
    testing::Values(Sanitized{"forward", "conv_fwd", {"a_ragged_end", "packed_states"}, "threads"},
                    Sanitized{
                        "backward",
                        "conv_bwd",
                        {"a_ragged_end", "pairs_of_an_odd_number_of_units", "packed_pairs", "fours_of_a_ragged_end"},
                        "staging,strips"},
                    Sanitized{"reduction", "conv_dw_reduce", {"a_ragged_end"}, "split"},
                    Sanitized{"final_state", "conv_final_state", {"packed_states"}, ""},
                    Sanitized{"state_bwd", "conv_state_bwd", {"packed_states"}, ""}),
    kNameOf);

const std::string kOverflow = "heap-buffer-overflow";
const std::string kRace = "WARNING: ThreadSanitizer: data race";

// A fault planted in a template, and what the candidates that have it are found by.
struct Planted {
  std::string name;
  std::string runner;
  std::string problem;
  std::string where;  // candidates that use the text
  std::string file, before, after;
  std::vector<std::string> said;
};

void PrintTo(const Planted& planted, std::ostream* out) { *out << planted.name; }

class PlantedFault : public testing::TestWithParam<Planted> {};

TEST_P(PlantedFault, is_found_and_the_candidate_named) {
  const Planted& planted = GetParam();
  if (planted.runner.empty()) GTEST_SKIP() << "this build is under the other sanitizer";
  const ChildResult result = run_child({planted.runner, "space", planted.problem, "--where", planted.where, "--first", "--edit",
                                        "causal_conv1d/" + planted.file, planted.before, planted.after});
  EXPECT_GT(result.exit_code, 0) << result.output;
  EXPECT_NE(result.output.find(planted.problem + " {"), std::string::npos) << result.output;
  for (const auto& words : planted.said) EXPECT_NE(result.output.find(words), std::string::npos) << result.output;
}

INSTANTIATE_TEST_SUITE_P(Address, PlantedFault,
                         testing::Values(Planted{"forward_reads_past_the_end",
                                                 kAddress,
                                                 "conv_fwd:a_ragged_end",
                                                 "{vec=4}",
                                                 "fwd.cuh",
                                                 "load_pack_if<V, Load::read_only>(from + r * stride, inside)",
                                                 "load_pack<V, Load::read_only>(from + r * stride)",
                                                 {kOverflow, "READ of size"}},
                                         Planted{"forward_reads_before_the_beginning",
                                                 kAddress,
                                                 "conv_fwd:a_ragged_end",
                                                 "{vec=4}",
                                                 "fwd.cuh",
                                                 "t0 + h >= kHalo",
                                                 "true",
                                                 {kOverflow, "READ of size"}},
                                         Planted{"forward_writes_past_the_end",
                                                 kAddress,
                                                 "conv_fwd:one_token",
                                                 "{vec=1}",
                                                 "fwd.cuh",
                                                 "store_if(y + r * y_row, out, t0 + r < a.T)",
                                                 "store_if(y + r * y_row, out, true)",
                                                 {kOverflow, "WRITE of size"}},
                                         Planted{"backward_reads_past_the_end",
                                                 kAddress,
                                                 "conv_bwd:a_ragged_end",
                                                 "{staging=0, strips=4}",
                                                 "bwd_rows.cuh",
                                                 "(px + u * x_row, t + u < T)",
                                                 "(px + u * x_row, true)",
                                                 {kOverflow, "READ of size"}},
                                         Planted{"backward_leaves_its_registers",
                                                 kAddress,
                                                 "conv_bwd:a_ragged_end",
                                                 "{staging=0, strips=4}",
                                                 "bwd.cuh",
                                                 "taps.pre([&](int k) { return x[(u - kHalo + k + kRing)",
                                                 "taps.pre([&](int k) { return x[(u - kHalo + k)",
                                                 {"runtime error: index -3 out of bounds"}},
                                         Planted{"ring_reads_past_the_end",
                                                 kAddress,
                                                 "conv_bwd:a_ragged_end",
                                                 "{staging=1}",
                                                 "bwd_rows.cuh",
                                                 "P::whole_blocks || t + u < T ? kBytes : 0",
                                                 "kBytes",
                                                 {kOverflow, "READ of size"}},
                                         Planted{"tile_reads_before_the_beginning",
                                                 kAddress,
                                                 "conv_bwd:a_ragged_end",
                                                 "{staging=2}",
                                                 "bwd_rows.cuh",
                                                 "exists && at >= 0 && at < T",
                                                 "exists && at < T",
                                                 {kOverflow, "READ of size"}},
                                         Planted{"tile_is_too_short",
                                                 kAddress,
                                                 "conv_bwd:a_ragged_end",
                                                 "{staging=2}",
                                                 "bwd_rows.cuh",
                                                 "kDyRows = kPieceRows<P> + R::kHalo",
                                                 "kDyRows = kPieceRows<P> + R::kHalo + 1",
                                                 {kOverflow, "WRITE of size"}},
                                         Planted{"ring_waits_too_little",
                                                 kAddress,
                                                 "conv_bwd:a_ragged_end",
                                                 "{staging=1}",
                                                 "bwd_rows.cuh",
                                                 "copy_async_wait<kStages - 1>()",
                                                 "copy_async_wait<kStages>()",
                                                 {"dx"}},
                                         Planted{"state_of_another_channel",
                                                 kAddress,
                                                 "conv_final_state:states",
                                                 "{}",
                                                 "final_state.cuh",
                                                 "one.d >= P::D",
                                                 "one.d > P::D",
                                                 {kOverflow, "of size"}}),
                         kNameOf);

INSTANTIATE_TEST_SUITE_P(Thread, PlantedFault,
                         testing::Values(Planted{"tile_serves_the_sums_too_early",
                                                 kThread,
                                                 "conv_bwd:a_ragged_end",
                                                 "{staging=2}",
                                                 "bwd.cuh",
                                                 "__syncthreads();  // before the tile's memory serves the sums",
                                                 "",
                                                 {kRace}},
                                         Planted{"tile_is_read_too_early",
                                                 kThread,
                                                 "conv_bwd:a_ragged_end",
                                                 "{staging=2}",
                                                 "bwd.cuh",
                                                 "__syncthreads();\n      segment(a, b, tile, piece);",
                                                 "segment(a, b, tile, piece);",
                                                 {kRace}},
                                         Planted{"tile_is_filled_again_too_early",
                                                 kThread,
                                                 "conv_bwd:pairs_of_an_odd_number_of_units",
                                                 "{staging=2}",
                                                 "bwd.cuh",
                                                 "__syncthreads();\n      fill(",
                                                 "fill(",
                                                 {kRace}},
                                         Planted{"strips_meet_too_early",
                                                 kThread,
                                                 "conv_bwd:a_ragged_end",
                                                 "{staging=0, strips=4}",
                                                 "bwd.cuh",
                                                 "__syncthreads();\n  for (int v",
                                                 "for (int v",
                                                 {kRace}},
                                         Planted{"strips_meet_in_memory_in_use",
                                                 kThread,
                                                 "conv_bwd:a_ragged_end",
                                                 "{staging=1, strips=4}",
                                                 "bwd.cuh",
                                                 "__syncthreads();  // slots and rows are no longer in use",
                                                 "",
                                                 {kRace}},
                                         Planted{"strips_go_on_too_early",
                                                 kThread,
                                                 "conv_bwd:pairs_of_an_odd_number_of_units",
                                                 "{staging=1, strips=4}",
                                                 "bwd.cuh",
                                                 "__syncthreads();  // the memory of this piece serves the next",
                                                 "",
                                                 {kRace}},
                                         Planted{"chains_are_added_too_early",
                                                 kThread,
                                                 "conv_dw_reduce:a_ragged_end",
                                                 "{split=8, block=256}",
                                                 "dw_reduce.cuh",
                                                 "__syncthreads();\n    if (part < half)",
                                                 "if (part < half)",
                                                 {kRace}}),
                         kNameOf);

TEST(SpaceRun, what_is_not_there_is_an_error) {
  const std::string& runner = kAddress.empty() ? kThread : kAddress;
  const auto run = [&](const std::vector<std::string>& words) {
    std::vector<std::string> command{runner, "space"};
    command.insert(command.end(), words.begin(), words.end());
    return run_child(command).output;
  };
  EXPECT_NE(run({"conv_fwd:no_such_case"}).find("there is no problem"), std::string::npos);
  EXPECT_NE(run({"conv_fwd:states", "--where", "{rows=17}"}).find("no candidate is like that"), std::string::npos);
  EXPECT_NE(run({"conv_fwd:states", "--edit", "causal_conv1d/fwd.cuh", "not in it", ""}).find("does not stand exactly once"),
            std::string::npos);
}

}  // namespace
}  // namespace strop::host_test
