// Tuning on a GPU when candidates are wrong on purpose: none wins, and one that takes the context takes it once.

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <map>
#include <optional>
#include <string>

#include "cache/store.h"
#include "src/device/device.h"
#include "strop/library.h"
#include "tests/support/planted_kernel.h"
#include "tests/support/test_folder.h"

namespace strop {
namespace {

using Clock = std::chrono::steady_clock;

// The folder is the parent's in children too: a death test's child begins this program anew.
constexpr const char* kFolder = "STROP_TEST_TUNING_FOLDER";

class TuningOnCuda : public testing::Test {
 protected:
  void SetUp() override {
    const auto found = device::probe_cuda();
    if (found.status != device::CudaStatus::ok) GTEST_SKIP() << "no usable GPU: " << found.reason;
    if (std::getenv(kFolder) == nullptr) variable_.emplace(kFolder, folder_.path().string());
    database_ = std::string(std::getenv(kFolder)) + "/strop.db";
  }

  KeyReport warm(const Kernel& kernel) const {
    Options options;
    options.device = "cuda";
    options.cache_path = database_;
    const WarmupItem item{&kernel, std::make_shared<test::PlantedProblem>(100'000)};
    return Library::open(options)->warmup({&item, 1}).keys.at(0);
  }

  // By the planted fault, of the candidates with 64 threads.
  std::map<std::int64_t, Verdict> verdicts() const {
    cache::StoreOptions options;
    options.path = database_;
    const auto store = cache::Store::open(options);
    auto entries = store->list();
    for (const auto& entry : store->unfinished()) entries.push_back(entry);
    std::map<std::int64_t, Verdict> found;
    for (const auto& entry : entries)
      for (const auto& row : store->trials_of(entry.id))
        if (row.trial.config.at("threads") == 64) found[row.trial.config.at("plant")] = row.trial.verdict;
    return found;
  }

  // Warms up in a process of its own, which a candidate with this fault ends; then in another, which leaves it alone.
  void expect_taken_once(test::Plant fault, double within_s) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const auto kernel = test::planted_kernel({fault});
    const auto lost = [&] {
      const auto begin = Clock::now();
      try {
        warm(kernel);
      } catch (const WarmupFailed& error) {
        std::cerr << error.what() << '\n';
        const std::chrono::duration<double> took = Clock::now() - begin;
        std::_Exit(took.count() < within_s ? 7 : 1);
      }
      std::_Exit(2);
    };
    EXPECT_EXIT(lost(), testing::ExitedWithCode(7), "");
    EXPECT_EQ(verdicts().at(fault), Verdict::crashed);
    const auto after = warm(kernel);
    EXPECT_EQ(after.outcome, Outcome::tuned);
    EXPECT_EQ(after.rejected, 1);
    EXPECT_NE(after.note.find("resumed"), std::string::npos) << after.note;
    EXPECT_EQ(after.winner->at("plant"), test::kRight);
  }

  test::TestFolder folder_;
  std::optional<test::Environment> variable_;
  std::string database_;
};

TEST_F(TuningOnCuda, NoPlantedFaultWinsAndEachVerdictIsStored) {
  const auto kernel = test::planted_kernel({test::kWrong, test::kWritesOutside, test::kDoesNotCompile, test::kNotReproducible,
                                            test::kChangesInput, test::kTooMuchShared});
  const auto key = warm(kernel);
  EXPECT_EQ(key.outcome, Outcome::tuned);
  EXPECT_EQ(key.candidates, 9);
  EXPECT_EQ(key.rejected, 6);
  EXPECT_EQ(key.winner->at("plant"), test::kRight);
  const std::map<std::int64_t, Verdict> expected{{test::kRight, Verdict::ok},
                                                 {test::kWrong, Verdict::wrong_result},
                                                 {test::kWritesOutside, Verdict::wrote_outside},
                                                 {test::kDoesNotCompile, Verdict::does_not_compile},
                                                 {test::kNotReproducible, Verdict::not_reproducible},
                                                 {test::kChangesInput, Verdict::wrote_outside},
                                                 {test::kTooMuchShared, Verdict::too_much_shared_memory}};
  EXPECT_EQ(verdicts(), expected);
}

TEST_F(TuningOnCuda, ACandidateThatTrapsTakesOneProcessAndNoMore) { expect_taken_once(test::kTraps, 30); }

TEST_F(TuningOnCuda, ACandidateThatDoesNotEndTakesOneProcessAndNoMore) { expect_taken_once(test::kHangs, 14); }

}  // namespace
}  // namespace strop
