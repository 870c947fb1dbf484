// The loop on the host device: tune, remember, hit; policies; what a bad candidate, a changed driver or a bad cache does.

#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>
#include <thread>

#include <gtest/gtest.h>
#include <unistd.h>

#include "cache/store.h"
#include "src/base/settings.h"
#include "strop/library.h"
#include "tests/support/planted_kernel.h"

namespace strop {
namespace {

namespace fs = std::filesystem;
using test::planted_kernel;
using test::PlantedProblem;

class Engine : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("strop-engine-test-" + std::to_string(::getpid()) + "-" +
                                           testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string database() const { return (folder_ / "strop.db").string(); }
  std::shared_ptr<Library> open(MissPolicy policy = MissPolicy::tune) const {
    Options options;
    options.device = "host";
    options.cache_path = database();
    options.on_miss = policy;
    return Library::open(options);
  }
  static WarmupItem item(const Kernel& kernel, std::int64_t n) { return {&kernel, std::make_shared<PlantedProblem>(n)}; }
  std::vector<cache::Winner> stored() const {
    cache::StoreOptions options;
    options.path = database();
    return cache::Store::open(options)->list();
  }
  // Edits the stored winners as a driver upgrade would have them look.
  void pretend_driver_was(const std::string& driver) const {
    cache::StoreOptions options;
    options.path = database();
    const auto store = cache::Store::open(options);
    for (auto winner : store->list()) {
      winner.environment.driver = driver;
      ASSERT_TRUE(store->put_winner(winner, std::nullopt));
    }
  }

  fs::path folder_;
};

TEST_F(Engine, ASecondLibraryFindsEverythingAndCompilesAndTimesNothing) {
  const auto kernel = planted_kernel({});
  const auto items = std::vector{item(kernel, 5000), item(kernel, 700)};
  const auto first = open()->warmup(items);
  ASSERT_EQ(first.keys.size(), 2U);
  for (const auto& key : first.keys) EXPECT_EQ(key.outcome, Outcome::tuned);
  EXPECT_EQ(first.compiles, 3) << "three distinct binaries serve both keys";
  EXPECT_EQ(first.timings, 6);

  const auto second = open()->warmup(items);
  ASSERT_EQ(second.keys.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(second.keys[i].outcome, Outcome::hit);
    EXPECT_EQ(second.keys[i].winner, first.keys[i].winner);
  }
  EXPECT_EQ(second.compiles, 0);
  EXPECT_EQ(second.timings, 0);
}

TEST_F(Engine, NoPlantedFaultWinsAndEachVerdictIsStored) {
  const auto kernel = planted_kernel({test::kWrong, test::kWritesOutside, test::kDoesNotCompile, test::kRacy, test::kNotReproducible,
                                      test::kChangesInput, test::kTooMuchShared});
  const auto one = item(kernel, 999);
  const auto report = open()->warmup({&one, 1});
  const auto& key = report.keys.at(0);
  EXPECT_EQ(key.outcome, Outcome::tuned);
  EXPECT_EQ(key.candidates, 10);
  EXPECT_EQ(key.rejected, 7);
  ASSERT_TRUE(key.winner);
  EXPECT_EQ(key.winner->at("plant"), test::kRight);

  cache::StoreOptions options;
  options.path = database();
  const auto store = cache::Store::open(options);
  std::map<std::int64_t, Verdict> verdicts;
  for (const auto& row : store->trials_of(store->list().at(0).id)) {
    if (row.trial.config.at("threads") != 64) continue;
    verdicts[row.trial.config.at("plant")] = row.trial.verdict;
    if (row.trial.verdict != Verdict::ok) {
      EXPECT_FALSE(row.trial.detail.empty()) << row.trial.config.str();
    }
  }
  EXPECT_EQ(verdicts.at(test::kRight), Verdict::ok);
  EXPECT_EQ(verdicts.at(test::kWrong), Verdict::wrong_result);
  EXPECT_EQ(verdicts.at(test::kWritesOutside), Verdict::wrote_outside);
  EXPECT_EQ(verdicts.at(test::kDoesNotCompile), Verdict::does_not_compile);
  EXPECT_EQ(verdicts.at(test::kRacy), Verdict::wrong_result);
  EXPECT_EQ(verdicts.at(test::kNotReproducible), Verdict::not_reproducible);
  EXPECT_EQ(verdicts.at(test::kChangesInput), Verdict::wrote_outside);
  EXPECT_EQ(verdicts.at(test::kTooMuchShared), Verdict::too_much_shared_memory);
}

TEST_F(Engine, AKeyForWhichNothingWorksIsAnErrorThatListsTheVerdicts) {
  auto kernel = planted_kernel({test::kWrong});
  Space space;
  space.parameter("threads", {64}).parameter("plant", {test::kWrong}).fallback({{"threads", 64}, {"plant", test::kWrong}});
  kernel.space = space;
  const auto one = item(kernel, 100);
  try {
    open()->warmup({&one, 1});
    FAIL() << "no error";
  } catch (const WarmupFailed& error) {
    EXPECT_NE(std::string(error.what()).find("wrong_result"), std::string::npos) << error.what();
    EXPECT_EQ(error.report().keys.at(0).outcome, Outcome::failed);
  }
  EXPECT_TRUE(stored().empty());
}

TEST_F(Engine, AChangedDriverMakesWinnersSuspectServedAtOnceAndRevalidatedCheaply) {
  const auto kernel = planted_kernel({});
  const auto one = item(kernel, 4000);
  open()->warmup({&one, 1});
  pretend_driver_was("570.1");

  const auto library = open();
  const auto prepared = library->prepare(kernel, *one.problem);
  EXPECT_EQ(prepared->origin(), "winner");
  EXPECT_EQ(library->counters().compiles, 0);
  EXPECT_EQ(library->counters().timings, 0);

  const auto report = open()->revalidate({&one, 1});
  ASSERT_EQ(report.keys.size(), 1U);
  EXPECT_EQ(report.keys[0].outcome, Outcome::revalidated);
  EXPECT_TRUE(report.keys[0].previous);
  EXPECT_GE(report.timings, 1);
  EXPECT_LE(report.timings, 4);
  EXPECT_EQ(open()->warmup({&one, 1}).keys.at(0).outcome, Outcome::hit) << "current again";
}

TEST_F(Engine, WarmupRevalidatesSuspectsToo) {
  const auto kernel = planted_kernel({});
  const auto one = item(kernel, 4000);
  open()->warmup({&one, 1});
  pretend_driver_was("570.1");
  const auto report = open()->warmup({&one, 1});
  EXPECT_EQ(report.keys.at(0).outcome, Outcome::revalidated);
  EXPECT_LE(report.timings, 4);
}

TEST_F(Engine, AnUnknownDriverIsNoEvidenceOfChange) {
  const auto kernel = planted_kernel({});
  const auto one = item(kernel, 4000);
  open()->warmup({&one, 1});
  pretend_driver_was("unknown");
  EXPECT_EQ(open()->warmup({&one, 1}).keys.at(0).outcome, Outcome::hit);
}

TEST_F(Engine, TheErrorPolicyNamesTheKey) {
  const auto kernel = planted_kernel({});
  try {
    (void)open(MissPolicy::error)->prepare(kernel, PlantedProblem(123));
    FAIL() << "no error";
  } catch (const NotReady& error) {
    EXPECT_NE(std::string(error.what()).find("n=123"), std::string::npos);
  }
}

TEST_F(Engine, TheNearestPolicyRunsTheNearestTunedConfigAndTimesNothing) {
  const auto kernel = planted_kernel({});
  const auto items = std::vector{item(kernel, 4000), item(kernel, 100)};
  open()->warmup(items);
  const auto library = open(MissPolicy::nearest);
  EXPECT_EQ(library->prepare(kernel, PlantedProblem(4100))->origin(), "nearest n=4000 dtype=fp32");
  EXPECT_EQ(library->counters().timings, 0);
}

TEST_F(Engine, WithNothingTunedTheNearestPolicyRunsTheDefault) {
  const auto kernel = planted_kernel({});
  const auto prepared = open(MissPolicy::nearest)->prepare(kernel, PlantedProblem(10));
  EXPECT_EQ(prepared->origin(), "default");
  EXPECT_EQ(prepared->config(), kernel.space.fallback());
}

TEST_F(Engine, AfterSealACompileOrATimingIsAnErrorAndAHitIsNot) {
  const auto kernel = planted_kernel({});
  const auto one = item(kernel, 64);
  open()->warmup({&one, 1});
  const auto library = open();
  library->seal();
  EXPECT_NO_THROW((void)library->prepare(kernel, *one.problem));
  EXPECT_EQ(library->prepare(kernel, PlantedProblem(65))->origin(), "nearest n=64 dtype=fp32");
  const auto unknown = planted_kernel({test::kWrong});
  EXPECT_THROW((void)library->prepare(unknown, *one.problem), NotReady);
  const auto other = item(kernel, 66);
  EXPECT_THROW((void)library->warmup({&other, 1}), NotReady);
}

TEST_F(Engine, SixteenThreadsOnOneColdKeyTuneItOnce) {
  const auto kernel = planted_kernel({});
  const auto library = open();
  const PlantedProblem problem(2048);
  std::atomic<int> good{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 16; ++i)
    threads.emplace_back([&] { good += library->prepare(kernel, problem)->origin() == "winner" ? 1 : 0; });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(good, 16);
  EXPECT_EQ(library->counters().compiles, 3);
  EXPECT_EQ(library->counters().timings, 3);
}

TEST_F(Engine, ABudgetEndsTheRunAndWhatWasTunedStays) {
  const auto kernel = planted_kernel({});
  std::vector<WarmupItem> items;
  for (int i = 0; i < 40; ++i) items.push_back(item(kernel, 100000 + i));
  WarmupOptions options;
  options.budget_s = 0.6;
  try {
    const auto report = open()->warmup(items, options);
    GTEST_SKIP() << "40 keys were tuned within the budget on this machine";
  } catch (const WarmupFailed& error) {
    std::size_t done = 0;
    for (const auto& key : error.report().keys) done += key.outcome == Outcome::tuned ? 1 : 0;
    EXPECT_EQ(stored().size(), done);
    EXPECT_LT(error.report().elapsed_s, 5);
  }
}

TEST_F(Engine, AnInterruptedTuningResumesFromTheTrialsThatLanded) {
  const auto kernel = planted_kernel({test::kWrong});
  const auto one = item(kernel, 3000);
  open()->warmup({&one, 1});
  {
    // As a killed run leaves it: trials, no winner.
    cache::StoreOptions options;
    options.path = database();
    const auto store = cache::Store::open(options);
    const auto winner = store->list().at(0);
    const auto trials = store->trials_of(winner.id);
    store->remove({winner});
    for (std::size_t i = 0; i < 2; ++i) ASSERT_TRUE(store->put_trial(trials[i]));
  }
  const auto report = open()->warmup({&one, 1});
  EXPECT_EQ(report.keys.at(0).outcome, Outcome::tuned);
  EXPECT_NE(report.keys[0].note.find("resumed: 2 trials"), std::string::npos) << report.keys[0].note;
}

TEST_F(Engine, AStoredConfigThatTheSpaceHasNotIsAMissAndIsTunedAgain) {
  const auto kernel = planted_kernel({});
  const auto one = item(kernel, 700);
  const auto right = open()->warmup({&one, 1}).keys.at(0);
  for (const Config& foreign : {Config{{"threads", 0}, {"plant", 0}}, Config{{"threads", 64}}, Config{{"rows", 16}, {"vec", 4}},
                                Config{{"threads", 1 << 20}, {"plant", 0}}, Config{}}) {
    {
      cache::StoreOptions options;
      options.path = database();
      const auto store = cache::Store::open(options);
      auto winner = store->list().at(0);
      winner.config = foreign;
      winner.environment.driver = "1.0";
      ASSERT_TRUE(store->put_winner(winner, std::nullopt));
    }
    EXPECT_NE(open(MissPolicy::nearest)->prepare(kernel, *one.problem)->config(), foreign);
    const auto again = open()->warmup({&one, 1}).keys.at(0);
    EXPECT_EQ(again.outcome, Outcome::tuned) << foreign.str();
    EXPECT_EQ(again.candidates, right.candidates);
    EXPECT_EQ(stored().at(0).config, *again.winner);
  }
}

// A compiler that works `times` times and is killed from then on.
void killed_compiler(const fs::path& folder, int times) {
  const auto path = folder / "c++";
  std::ofstream script(path);
  script << "#!/bin/sh\ncase \"$1\" in --version) exec c++ --version;; esac\n";
  for (int i = 0; i < times; ++i) script << "mkdir " << folder.string() << "/" << i << " 2>/dev/null && exec c++ \"$@\"\n";
  script << "echo 'c++: fatal error: Killed signal terminated program cc1plus' >&2\nexit 1\n";
  script.close();
  fs::permissions(path, fs::perms::owner_all);
  ::setenv("STROP_CXX", path.c_str(), 1);
  settings::reload();
}

TEST_F(Engine, ACompilerThatFailsForNoFaultOfTheSourceIsNotRememberedAgainstAnyCandidate) {
  const auto kernel = planted_kernel({});
  const auto one = item(kernel, 700);
  const auto always_killed = [&] {
    killed_compiler(folder_, 0);
    try {
      open()->warmup({&one, 1});
    } catch (const WarmupFailed& error) {
      std::_Exit(std::string(error.what()).find("Killed") != std::string::npos && stored().empty() ? 7 : 1);
    }
    std::_Exit(2);
  };
  EXPECT_EXIT(always_killed(), testing::ExitedWithCode(7), "");
  const auto after = open()->warmup({&one, 1}).keys.at(0);
  EXPECT_EQ(after.outcome, Outcome::tuned);
  EXPECT_EQ(after.rejected, 0);
  EXPECT_EQ(after.candidates, 3);
  EXPECT_EQ(after.note, "") << "nothing of the killed run is left";
}

TEST_F(Engine, ACompilerThatIsKilledForSomeCandidatesLeavesTheKeyTunedAndToldAndTheRestForTheNextWarmup) {
  const auto kernel = planted_kernel({});
  const auto one = item(kernel, 700);
  const auto killed_once_begun = [&] {
    killed_compiler(folder_, 1);
    const auto key = open()->warmup({&one, 1}).keys.at(0);
    const bool told = key.note.find("2 of 3 candidates could not be judged") != std::string::npos && key.note.find("Killed") != std::string::npos;
    std::_Exit(key.outcome == Outcome::tuned && told ? 7 : 1);
  };
  EXPECT_EXIT(killed_once_begun(), testing::ExitedWithCode(7), "");
  ASSERT_EQ(stored().size(), 1U);
  EXPECT_EQ(stored().at(0).flags, "unsettled");
  const auto library = open();
  const auto after = library->warmup({&one, 1}).keys.at(0);
  EXPECT_EQ(after.outcome, Outcome::tuned);
  EXPECT_EQ(after.rejected, 0);
  EXPECT_EQ(after.note, "resumed: 1 trials of an earlier run");
  EXPECT_EQ(library->counters().compiles, 2);
  EXPECT_EQ(stored().at(0).flags, "");
  EXPECT_EQ(library->warmup({&one, 1}).keys.at(0).outcome, Outcome::hit);
}

TEST_F(Engine, ACompilerThatMakesWhatDoesNotLoadIsNotRememberedAgainstAnyCandidate) {
  const auto kernel = planted_kernel({});
  const auto one = item(kernel, 700);
  const auto makes_garbage = [&] {
    const auto path = folder_ / "c++";
    std::ofstream(path) << "#!/bin/sh\ncase \"$1\" in --version) exec c++ --version;; esac\nmkdir " << folder_.string()
                        << "/once 2>/dev/null && exec c++ \"$@\"\necho garbage > strop.so\n";
    fs::permissions(path, fs::perms::owner_all);
    ::setenv("STROP_CXX", path.c_str(), 1);
    settings::reload();
    const auto key = open()->warmup({&one, 1}).keys.at(0);
    std::_Exit(key.outcome == Outcome::tuned && key.note.find("does not load") != std::string::npos ? 7 : 1);
  };
  EXPECT_EXIT(makes_garbage(), testing::ExitedWithCode(7), "");
  const auto after = open()->warmup({&one, 1}).keys.at(0);
  EXPECT_EQ(after.outcome, Outcome::tuned);
  EXPECT_EQ(after.rejected, 0);
}

TEST_F(Engine, ANewLengthOfTheSameCodeCostsNothingUnderTheDefaultPolicy) {
  const auto kernel = planted_kernel({});
  const auto items = std::vector{item(kernel, 4000), item(kernel, 100)};
  open()->warmup(items);
  const auto library = open();
  for (const std::int64_t n : {4100, 3999, 5000}) {
    const auto prepared = library->prepare(kernel, PlantedProblem(n));
    EXPECT_EQ(prepared->origin(), "nearest n=4000 dtype=fp32");
    EXPECT_EQ(prepared->good_until(), std::chrono::steady_clock::time_point::max());
  }
  EXPECT_EQ(library->counters().compiles, 0);
  EXPECT_EQ(library->counters().timings, 0);
  // A warmup of that very length still tunes it, and is served from then on.
  const auto one = item(kernel, 4100);
  EXPECT_EQ(library->warmup({&one, 1}).keys.at(0).outcome, Outcome::tuned);
  EXPECT_EQ(library->prepare(kernel, *one.problem)->origin(), "winner");
}

TEST_F(Engine, WhatOnePolicyLoadedIsNoAnswerToAStricterOne) {
  const auto kernel = planted_kernel({});
  const auto library = open(MissPolicy::nearest);
  const PlantedProblem problem(600);
  EXPECT_EQ(library->prepare(kernel, problem)->origin(), "default");
  EXPECT_THROW((void)library->prepare(kernel, problem, nullptr, MissPolicy::error), NotReady);
  EXPECT_EQ(library->prepare(kernel, problem, nullptr, MissPolicy::tune)->origin(), "winner");
  EXPECT_EQ(library->prepare(kernel, problem)->origin(), "winner");
}

// Its trials need more memory than there is.
class TooLargeToTry : public PlantedProblem {
 public:
  using PlantedProblem::PlantedProblem;
  std::vector<TensorSpec> tensors() const override {
    auto specs = PlantedProblem::tensors();
    for (auto& spec : specs) spec.elements = std::int64_t{1} << 50;
    return specs;
  }
};

TEST_F(Engine, AKeyWithoutRoomForItsTrialsRunsUntunedAndIsTunedOnceThereIsRoom) {
  const auto kernel = planted_kernel({});
  const auto library = open();
  const TooLargeToTry large(600);
  const auto first = library->prepare(kernel, large);
  EXPECT_EQ(first->origin(), "default");
  EXPECT_GT(first->good_until(), std::chrono::steady_clock::now());
  EXPECT_LT(first->good_until(), std::chrono::steady_clock::now() + std::chrono::minutes(1));
  EXPECT_TRUE(stored().empty());
  const auto loads = library->counters().loads;
  EXPECT_EQ(library->prepare(kernel, large)->origin(), "default");
  EXPECT_EQ(library->counters().loads, loads) << "a failed tuning is not repeated at every call";
  const auto generation = library->generation();
  const auto one = item(kernel, 600);
  EXPECT_EQ(library->warmup({&one, 1}).keys.at(0).outcome, Outcome::tuned);
  EXPECT_GT(library->generation(), generation);
  EXPECT_EQ(library->prepare(kernel, large)->origin(), "winner");
}

TEST_F(Engine, AStoredBinaryThatDoesNotLoadIsMadeAgainAndNoCandidateIsBlamed) {
  const auto kernel = planted_kernel({});
  const auto one = item(kernel, 700);
  const auto right = open()->warmup({&one, 1}).keys.at(0);
  const auto spoil = [&](bool with_winner) {
    cache::StoreOptions options;
    options.path = database();
    const auto store = cache::Store::open(options);
    const auto winner = store->list().at(0);
    auto binary = *store->find_binary(winner.code, "");
    binary.bytes = "no shared object";
    if (!with_winner) store->remove({winner});
    ASSERT_TRUE(store->put_binary(binary, true));
  };
  spoil(true);
  EXPECT_EQ(open(MissPolicy::error)->prepare(kernel, *one.problem)->origin(), "winner");
  spoil(false);
  const auto again = open()->warmup({&one, 1}).keys.at(0);
  EXPECT_EQ(again.outcome, Outcome::tuned);
  EXPECT_EQ(again.rejected, 0);
  EXPECT_EQ(again.candidates, right.candidates);
  EXPECT_EQ(open(MissPolicy::error)->prepare(kernel, *one.problem)->origin(), "winner");
}

TEST_F(Engine, WithoutACacheFileEverythingStillRuns) {
  const auto kernel = planted_kernel({});
  Options options;
  options.device = "host";
  options.cache_path = ":memory:";
  const auto library = Library::open(options);
  const auto one = item(kernel, 50);
  EXPECT_EQ(library->warmup({&one, 1}).keys.at(0).outcome, Outcome::tuned);
  EXPECT_EQ(library->warmup({&one, 1}).keys.at(0).outcome, Outcome::hit);
}

TEST_F(Engine, AMissingCompilerIsToldWholeAndLeavesNoRows) {
  ::setenv("STROP_CXX", "/nonexistent/compiler", 1);
  const auto kernel = planted_kernel({});
  const auto one = item(kernel, 50);
  EXPECT_EXIT(
      {
        settings::reload();
        try {
          open()->warmup({&one, 1});
        } catch (const WarmupFailed& error) {
          const bool named = std::string(error.what()).find("/nonexistent/compiler") != std::string::npos;
          std::_Exit(named && stored().empty() ? 7 : 1);
        }
        std::_Exit(2);
      },
      testing::ExitedWithCode(7), "");
  ::unsetenv("STROP_CXX");
}

}  // namespace
}  // namespace strop
