// What goes wrong for a moment is held against no candidate, and what was found wrong is not served: the engine on a device that fails when
// told to, and with references that are wrong when told to.

#include <gtest/gtest.h>

#include <functional>
#include <thread>

#include "src/engine/serving.h"
#include "src/engine/warmup.h"
#include "strop/error.h"
#include "tests/support/planted_kernel.h"
#include "tests/support/test_folder.h"

namespace strop::engine {
namespace {

using test::planted_kernel;
using test::PlantedProblem;

// The host device, with a place to throw from before some of its calls.
class FaultyDevice : public device::Device {
 public:
  std::function<void()> before_allocate = [] {}, before_copy = [] {}, before_launch = [] {};

  const DeviceFacts& facts() const override { return host_->facts(); }
  void* allocate(std::size_t bytes) override {
    before_allocate();
    return host_->allocate(bytes);
  }
  void release(void* pointer) noexcept override { host_->release(pointer); }
  std::size_t free_bytes() const override { return host_->free_bytes(); }
  void upload(void* to, const void* from, std::size_t bytes) override { host_->upload(to, from, bytes); }
  void download(void* to, const void* from, std::size_t bytes) override { host_->download(to, from, bytes); }
  void copy(void* to, const void* from, std::size_t bytes) override {
    before_copy();
    host_->copy(to, from, bytes);
  }
  void fill(void* to, unsigned char byte, std::size_t bytes) override { host_->fill(to, byte, bytes); }
  std::shared_ptr<device::LoadedKernel> load(std::string_view binary, std::string_view entry, unsigned shared) override {
    return host_->load(binary, entry, shared);
  }
  void launch(const device::LoadedKernel& kernel, const LaunchGeometry& geometry, const void* arguments, std::size_t bytes, Stream stream) override {
    before_launch();
    host_->launch(kernel, geometry, arguments, bytes, stream);
  }
  void synchronize(Stream stream) override { host_->synchronize(stream); }
  bool capturing(Stream stream) const override { return host_->capturing(stream); }
  std::vector<double> time(const std::function<void(Stream, int)>& launch_one, const device::TimingPlan& plan) override {
    return host_->time(launch_one, plan);
  }
  std::optional<bool> throttled() override { return host_->throttled(); }

 private:
  std::unique_ptr<Device> host_ = device::open_host();
};

// Its reference is wrong as often as it is told to be.
class SometimesWrong : public PlantedProblem {
 public:
  SometimesWrong(std::int64_t n, std::shared_ptr<int> wrong) : PlantedProblem(n), wrong_(std::move(wrong)) {}
  void reference(const std::vector<std::vector<double>>& in, std::vector<std::vector<double>>& out) const override {
    PlantedProblem::reference(in, out);
    if (*wrong_ > 0 && (*wrong_)-- > 0) out[1][0] += 1000;
  }
  std::unique_ptr<KernelProblem> check_problem() const override { return std::make_unique<SometimesWrong>(100, wrong_); }

 private:
  std::shared_ptr<int> wrong_;
};

// The key says nothing of what its constants hang on.
class OtherConstants : public PlantedProblem {
 public:
  using PlantedProblem::PlantedProblem;
  Config constants() const override { return {{"flavour", 2}}; }
};

class Faults : public testing::Test {
 protected:
  void SetUp() override {
    auto device = std::make_unique<FaultyDevice>();
    device_ = device.get();
    parts_.device = std::move(device);
    parts_.toolchain = jit::make_host();
    cache::StoreOptions options;
    options.path = (folder_.path() / "strop.db").string();
    parts_.store = cache::Store::open(options);
    parts_.compile_threads = 2;
  }
  KeyReport warm(std::shared_ptr<const KernelProblem> problem) {
    const WarmupItem item{&kernel_, std::move(problem)};
    return warm_up(parts_, table_, {&item, 1}, {}).keys.at(0);
  }
  KeyReport warm(std::int64_t n = 600) { return warm(std::make_shared<PlantedProblem>(n)); }
  std::vector<cache::StoredTrial> trials(std::int64_t n = 600) {
    return parts_.store->trials_of(parts_.entry_id(kernel_, PlantedProblem(n)));
  }
  void pretend_driver_was(const std::string& driver) {
    for (auto winner : parts_.store->list()) {
      winner.environment.driver = driver;
      ASSERT_TRUE(parts_.store->put_winner(winner, std::nullopt));
    }
  }
  static CudaError driver_error(int code) { return {code, "CUDA_ERROR_OF_A_TEST", "cuLaunchKernel", "the driver said no"}; }

  const Kernel kernel_ = planted_kernel({});
  test::TestFolder folder_;
  Parts parts_;
  ReadyTable table_;
  FaultyDevice* device_ = nullptr;
};

TEST_F(Faults, MemoryThatRunsOutInACheckIsHeldAgainstNoCandidate) {
  device_->before_launch = [] { throw OutOfMemory("the device is full"); };
  const auto without = warm();
  EXPECT_EQ(without.outcome, Outcome::failed);
  EXPECT_NE(without.note.find("out_of_memory"), std::string::npos) << without.note;
  EXPECT_TRUE(trials().empty());
  device_->before_launch = [] {};
  const auto with = warm();
  EXPECT_EQ(with.outcome, Outcome::tuned);
  EXPECT_EQ(with.rejected, 0);
}

TEST_F(Faults, AnotherThreadsCaptureInTheWayIsHeldAgainstNoCandidate) {
  device_->before_launch = [] { throw driver_error(906); };
  EXPECT_EQ(warm().outcome, Outcome::failed);
  EXPECT_TRUE(trials().empty());
  device_->before_launch = [] {};
  EXPECT_EQ(warm().rejected, 0);
}

TEST_F(Faults, AContextThatWasLostBeforeTheCandidateRanIsHeldAgainstNoCandidate) {
  device_->before_copy = [] { throw driver_error(700); };
  EXPECT_EQ(warm().outcome, Outcome::failed);
  EXPECT_TRUE(trials().empty());
}

TEST_F(Faults, ACandidateThatLostTheContextIsNotTriedAgainThoughNothingElseIsKnown) {
  device_->before_launch = [] { throw driver_error(700); };
  EXPECT_EQ(warm().outcome, Outcome::failed);
  ASSERT_EQ(trials().size(), 1U);
  EXPECT_EQ(trials()[0].trial.verdict, Verdict::crashed);
  const auto culprit = trials()[0].trial.config;
  device_->before_launch = [] {};
  const auto after = warm();
  EXPECT_EQ(after.outcome, Outcome::tuned);
  EXPECT_EQ(after.rejected, 1);
  EXPECT_NE(*after.winner, culprit);
}

TEST_F(Faults, ASuspectThatCanNotBeTimedAgainIsServedAsItWas) {
  const auto before = warm();
  pretend_driver_was("1.0");
  device_->before_allocate = [] { throw OutOfMemory("the device is full"); };
  const auto report = warm();
  EXPECT_EQ(report.outcome, Outcome::hit);
  EXPECT_EQ(report.winner, before.winner);
  EXPECT_NE(report.note.find("the device is full"), std::string::npos) << report.note;
  EXPECT_EQ(table_.find(table_id(parts_.entry_id(kernel_, PlantedProblem(600))))->config, *before.winner);
  device_->before_allocate = [] {};
  EXPECT_EQ(warm().outcome, Outcome::revalidated) << "and is timed again when it can be";
}

TEST_F(Faults, ASuspectThatIsFoundWrongIsThrownOutAndItsKeyTunedAnew) {
  const auto wrong = std::make_shared<int>(0);
  const auto problem = std::make_shared<SometimesWrong>(600, wrong);
  EXPECT_EQ(warm(problem).outcome, Outcome::tuned);
  pretend_driver_was("1.0");
  *wrong = 1;  // for the revalidation's reference alone
  const auto report = warm(problem);
  EXPECT_EQ(report.outcome, Outcome::tuned);
  EXPECT_NE(report.note.find("found wrong"), std::string::npos) << report.note;
  pretend_driver_was("1.0");
  *wrong = 2;
  EXPECT_EQ(warm(problem).outcome, Outcome::failed);
  EXPECT_TRUE(parts_.store->list().empty());
}

TEST_F(Faults, NoConfigThatTheKeysOwnTrialsFoundWrongStandsIn) {
  const auto always = std::make_shared<SometimesWrong>(600, std::make_shared<int>(1 << 20));
  EXPECT_EQ(warm(always).outcome, Outcome::failed);
  EXPECT_FALSE(trials().empty());
  try {
    (void)nearest_or_default(parts_, kernel_, *always, parts_.entry_id(kernel_, *always));
    ADD_FAILURE() << "something wrong was served";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("wrong_result"), std::string::npos) << error.what();
  }
}

TEST_F(Faults, ACorrectedReferenceJudgesTheKeyAnew) {
  EXPECT_EQ(warm(std::make_shared<SometimesWrong>(600, std::make_shared<int>(1))).outcome, Outcome::failed);
  EXPECT_FALSE(trials().empty());
  const auto after = warm();
  EXPECT_EQ(after.outcome, Outcome::tuned);
  EXPECT_EQ(after.rejected, 0);
}

// On a loaded machine the trials that had landed may all have been too slow beside one that had not.
TEST_F(Faults, TrialsThatWereRightButTooSlowAreResumedToo) {
  EXPECT_EQ(warm().outcome, Outcome::tuned);
  auto rows = trials();
  ASSERT_EQ(rows.size(), 3U);
  parts_.store->remove(parts_.store->list());
  for (std::size_t i = 0; i < 2; ++i) {
    rows[i].trial.verdict = Verdict::too_slow;
    ASSERT_TRUE(parts_.store->put_trial(rows[i]));
  }
  const auto before = parts_.compiles.load();
  const auto report = warm();
  EXPECT_EQ(report.outcome, Outcome::tuned);
  EXPECT_NE(report.note.find("resumed: 2 trials"), std::string::npos) << report.note;
  EXPECT_EQ(parts_.compiles - before, 1) << "what earlier trials speak for is not compiled again";
}

TEST_F(Faults, AnItemWithoutAKernelOrAProblemIsAFailureThatNamesIt) {
  const WarmupItem items[] = {{&kernel_, std::make_shared<PlantedProblem>(600)}, {nullptr, std::make_shared<PlantedProblem>(600)}, {&kernel_, nullptr}};
  const auto report = warm_up(parts_, table_, items, {});
  ASSERT_EQ(report.keys.size(), 3U);
  EXPECT_EQ(report.keys[0].outcome, Outcome::tuned);
  EXPECT_EQ(report.keys[1].note, "item 1 of the warmup has no kernel");
  EXPECT_EQ(report.keys[2].note, "item 2 of the warmup has no problem");
}

TEST_F(Faults, AnotherRevisionOfAKernelIsAnotherEntry) {
  auto corrected = kernel_;
  corrected.revision = "2";
  EXPECT_NE(template_digest(kernel_, true), template_digest(corrected, true));
}

TEST_F(Faults, EqualKeysWithDifferentConstantsAreAnErrorThatNamesBoth) {
  const WarmupItem items[] = {{&kernel_, std::make_shared<PlantedProblem>(600)}, {&kernel_, std::make_shared<OtherConstants>(600)}};
  const auto report = warm_up(parts_, table_, items, {});
  ASSERT_EQ(report.keys.size(), 2U);
  EXPECT_EQ(report.keys[0].outcome, Outcome::tuned);
  EXPECT_EQ(report.keys[1].outcome, Outcome::failed);
  EXPECT_NE(report.keys[1].note.find("flavour=2"), std::string::npos) << report.keys[1].note;
}

TEST_F(Faults, ATuningThatABudgetCutOffGoesOnAtTheNextWarmup) {
  EXPECT_EQ(warm().outcome, Outcome::tuned);
  auto winner = parts_.store->list().at(0);
  winner.flags = "budget";
  ASSERT_TRUE(parts_.store->put_winner(winner, std::nullopt));
  const auto report = warm();
  EXPECT_EQ(report.outcome, Outcome::tuned);
  EXPECT_NE(report.note.find("resumed"), std::string::npos) << report.note;
  EXPECT_EQ(parts_.store->list().at(0).flags, "");
  EXPECT_EQ(warm().outcome, Outcome::hit);
}

TEST_F(Faults, AProgressCallbackThatThrowsChangesNothing) {
  const WarmupItem item{&kernel_, std::make_shared<PlantedProblem>(600)};
  WarmupOptions options;
  options.progress = [](const Progress&) { throw std::runtime_error("of the callback"); };
  EXPECT_EQ(warm_up(parts_, table_, {&item, 1}, options).keys.at(0).outcome, Outcome::tuned);
}

TEST(ReadyTable, ACallerWaitsForCallersOfItsOwnPolicyAlone) {
  ReadyTable table;
  const auto serves = [](const Ready& ready) { return ready.tuned; };
  const auto make = [](bool tuned) {
    auto ready = std::make_shared<Ready>();
    ready->tuned = tuned;
    return ready;
  };
  std::promise<void> entered, other_done;
  std::thread first([&] {
    EXPECT_THROW(table.once("key", MissPolicy::error, serves, [&]() -> std::shared_ptr<const Ready> {
      entered.set_value();
      other_done.get_future().wait();
      throw NotReady("no winner");
    }), NotReady);
  });
  entered.get_future().wait();
  EXPECT_TRUE(table.once("key", MissPolicy::tune, serves, [&] { return make(true); })->tuned);
  other_done.set_value();
  first.join();
  table.put("key", make(false));
  EXPECT_TRUE(table.find("key")->tuned) << "a stand-in does not replace a winner";
}

}  // namespace
}  // namespace strop::engine
