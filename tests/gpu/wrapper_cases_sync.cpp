// Shuffles, votes, barriers, atomics, dependent launches.

#include <algorithm>
#include <string>

#include "tests/gpu/wrapper_cases.h"

namespace strop::conformance {
namespace {

using Words = std::vector<std::uint32_t>;

WrapperCase shuffle_case(int width) {
  constexpr int kThreads = 64;
  WrapperCase c{.name = "shuffle_width_" + std::to_string(width),
                .file = "wrappers/shuffle.cuh",
                .function = "shuffle",
                .params = "ShuffleParams",
                .config = {{"threads", kThreads}, {"width", width}}};
  c.in = random_words(kThreads, 0x40000000, 1);
  for (int t = 0; t < kThreads; ++t) {
    const int first = t / width * width, lane = t - first;
    auto at = [&](int l) { return c.in[static_cast<std::size_t>(first + l)]; };
    c.expected.push_back(at((t % 32 + 5 + (t >= 32 ? 32 : 0)) % width));
    c.expected.push_back(at((lane ^ 3) < width ? lane ^ 3 : lane));
    c.expected.push_back(at(lane < 2 ? lane : lane - 2));
    c.expected.push_back(at(lane + 7 >= width ? lane : lane + 7));
    c.expected.push_back(at(lane ^ 1));
  }
  return c;
}

WrapperCase vote_case() {
  constexpr int kThreads = 96;
  WrapperCase c{.name = "votes_and_reductions",
                .file = "wrappers/vote.cuh",
                .function = "vote",
                .params = "VoteParams",
                .config = {{"threads", kThreads}}};
  c.in = random_words(kThreads, 1000, 2);
  c.in[40] = 77;
  auto block_count = [&](auto test) {
    return static_cast<std::uint32_t>(std::count_if(c.in.begin(), c.in.end(), test));
  };
  for (int t = 0; t < kThreads; ++t) {
    const auto warp = c.in.begin() + t / 32 * 32;
    std::uint32_t odd = 0, second = 0, sum = 0, any = 0, all = 1;
    for (int l = 0; l < 32; ++l) {
      odd |= (warp[l] & 1u) << l;
      if (l / 16 == t % 32 / 16) second |= (warp[l] >> 1 & 1u) << l;
      sum += warp[l];
      any |= warp[l] == 77;
      all &= warp[l] < 900;
    }
    const auto group = c.in.begin() + t / 8 * 8;
    const std::uint32_t most = *std::max_element(group, group + 8);
    const Words row{odd,
                    any,
                    all,
                    block_count([](auto v) { return v == 77; }) > 0,
                    1u,
                    block_count([](auto v) { return (v & 3) != 0; }),
                    second,
                    bits_of(static_cast<float>(sum)),
                    bits_of(static_cast<float>(most))};
    c.expected.insert(c.expected.end(), row.begin(), row.end());
  }
  return c;
}

WrapperCase barrier_case() {
  constexpr std::uint32_t kThreads = 128, kBlocks = 3, kRounds = 5;
  WrapperCase c{.name = "block_barrier",
                .file = "wrappers/barrier.cuh",
                .function = "barrier",
                .params = "BarrierParams",
                .config = {{"threads", kThreads}, {"rounds", kRounds}},
                .grid = {kBlocks, 1, 1}};
  c.in = random_words(kThreads * kBlocks, 0x7fffffff, 3);
  c.expected = c.in;
  for (std::uint32_t b = 0; b < kBlocks; ++b) {
    for (std::uint32_t round = 0; round < kRounds; ++round) {
      const Words before(c.expected.begin() + b * kThreads, c.expected.begin() + (b + 1) * kThreads);
      for (std::uint32_t t = 0; t < kThreads; ++t)
        c.expected[b * kThreads + t] = before[kThreads - 1 - t] * 3u + round + before[(t + 37) % kThreads];
    }
  }
  return c;
}

WrapperCase named_barrier_case() {
  WrapperCase c{.name = "named_barriers_between_producers_and_consumers",
                .file = "wrappers/barrier.cuh",
                .function = "named_barrier",
                .params = "NamedBarrierParams",
                .config = {{"threads", 128}},
                .dynamic_shared = 128 * 4};
  c.in = random_words(64, 0x7fffffff, 4);
  for (std::uint32_t round = 0; round < 6; ++round)
    for (std::uint32_t i = 0; i < 64; ++i) c.expected.push_back(c.in[i ^ 33] + round);
  return c;
}

WrapperCase atomics_case() {
  constexpr std::uint32_t kThreads = 128, kBlocks = 8;
  WrapperCase c{.name = "atomics",
                .file = "wrappers/atomics.cuh",
                .function = "atomics",
                .params = "AtomicsParams",
                .config = {{"threads", kThreads}},
                .grid = {kBlocks, 1, 1}};
  c.in = random_words(kThreads * kBlocks, 100000, 5);
  c.initial = {0, 0, 0, 0, 0xffffffff, 0, 0};
  std::uint32_t sum = 0, small = 0;
  for (const std::uint32_t v : c.in) {
    sum += v;
    small += v & 1023u;
  }
  const auto [least, most] = std::minmax_element(c.in.begin(), c.in.end());
  c.expected = {sum, 0u - sum, bits_of(static_cast<float>(small)), *most, *least, 2 * kThreads * kBlocks, 17};
  return c;
}

WrapperCase dependency_case() {
  constexpr std::uint32_t kThreads = 128, kBlocks = 4, kAll = kThreads * kBlocks;
  WrapperCase c{.name = "grid_dependency",
                .file = "wrappers/dependency.cuh",
                .function = "dependency",
                .params = "DependencyParams",
                .config = {{"threads", kThreads}},
                .grid = {kBlocks, 1, 1}};
  c.in = random_words(kAll, 0x7fffffff, 6);
  c.count = kAll;
  for (std::uint32_t i = 0; i < kAll; ++i) c.expected.push_back(c.in[(i + 1) % kAll] + 1);
  return c;
}

}  // namespace

std::vector<WrapperCase> sync_cases() {
  return {shuffle_case(32),     shuffle_case(8), vote_case(),      barrier_case(),
          named_barrier_case(), atomics_case(),  dependency_case()};
}

}  // namespace strop::conformance
