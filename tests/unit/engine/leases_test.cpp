// Processes that share a cache: each class of code is tuned once, the others take the winner, and nobody waits for the dead or the stopped.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <thread>
#include <utility>

#include "src/base/settings.h"
#include "src/engine/leases.h"
#include "strop/library.h"
#include "tests/support/planted_kernel.h"
#include "tests/support/test_folder.h"
#include "tests/unit/cache/child.h"

namespace strop::engine {
namespace {

using cache::test::finish;
using cache::test::start;
using Clock = std::chrono::steady_clock;
using test::PlantedProblem;
using namespace std::chrono_literals;

class LeasesTest : public testing::Test {
 protected:
  std::unique_ptr<cache::Store> open_store() const {
    cache::StoreOptions options;
    options.path = path_;
    return cache::Store::open(options);
  }
  std::shared_ptr<Library> open() const {
    Options options;
    options.device = "host";
    options.cache_path = path_;
    return Library::open(options);
  }
  // Three candidates, of one code whatever the length.
  static std::vector<WarmupItem> items(const Kernel& kernel, int keys) {
    std::vector<WarmupItem> all;
    for (int i = 0; i < keys; ++i) all.push_back({&kernel, std::make_shared<PlantedProblem>(1000 + 100 * i)});
    return all;
  }
  // Lines that processes wrote to a common file.
  std::map<std::string, int> lines() const {
    std::ifstream in(log_);
    std::map<std::string, int> found;
    for (std::string line; std::getline(in, line);) ++found[line];
    return found;
  }
  void say(const std::string& line) const {
    std::ofstream out(log_, std::ios::app);
    out << line + '\n' << std::flush;
  }

  test::TestFolder folder_;
  std::string path_ = (folder_.path() / "strop.db").string();
  std::string log_ = (folder_.path() / "log").string();
};

TEST_F(LeasesTest, AreHadByOneAndGivenBack) {
  const auto store = open_store();
  Leases mine(*store), theirs(*store);
  EXPECT_TRUE(mine.claim("a", "what"));
  EXPECT_TRUE(mine.claim("a", "what")) << "again";
  EXPECT_FALSE(theirs.claim("a", "what"));
  EXPECT_NE(theirs.holder("a").find(std::to_string(getpid())), std::string::npos);
  EXPECT_TRUE(theirs.claim("b", "what"));
  mine.release("a");
  EXPECT_EQ(theirs.holder("a"), "");
  EXPECT_TRUE(theirs.claim("a", "what"));
  {
    Leases third(*store);
    EXPECT_TRUE(third.claim("c", "what"));
  }
  EXPECT_TRUE(mine.claim("c", "what")) << "given back at the end";
}

TEST_F(LeasesTest, WhoseHeartBeatsAreNotTakenAndWhoseHeartStandsStillAre) {
  const auto store = open_store();
  const cache::Lease still{"still", "what", "another-machine boot space 1 2 3", 7};
  ASSERT_TRUE(store->claim_lease(still));
  Leases living(*store, {20ms, 10s}), other(*store, {20ms, 200ms});
  ASSERT_TRUE(living.claim("beats", "what"));
  const auto begin = Clock::now();
  bool taken = false;
  while (Clock::now() - begin < 5s && !taken) {
    EXPECT_FALSE(other.claim("beats", "what"));
    taken = other.claim("still", "what");
    std::this_thread::sleep_for(10ms);
  }
  EXPECT_TRUE(taken);
  EXPECT_GE(Clock::now() - begin, 200ms);
}

TEST_F(LeasesTest, OfADeadProcessAreTakenAtOnce) {
  const auto child = start([&] {
    const auto theirs = open_store();
    Leases leases(*theirs);
    if (!leases.claim("a", "what")) return 1;
    ::kill(getpid(), SIGKILL);
    return 2;
  });
  ASSERT_EQ(finish(child), -SIGKILL);
  const auto store = open_store();
  ASSERT_TRUE(store->find_lease("a").has_value());
  EXPECT_TRUE(Leases(*store).claim("a", "what"));
}

TEST_F(LeasesTest, OfAMemoryOrAReadOnlyCacheAreNobodysConcern) {
  const auto memory = cache::Store::open({});
  Leases one(*memory);
  EXPECT_TRUE(one.claim("a", "what"));
  open_store();
  cache::StoreOptions options;
  options.path = path_;
  options.read_only = true;
  const auto looking = cache::Store::open(options);
  Leases two(*looking), three(*looking);
  EXPECT_TRUE(two.claim("a", "what"));
  EXPECT_TRUE(three.claim("a", "what"));
}

TEST_F(LeasesTest, ProcessesThatStartTogetherTuneEachCodeOnceAndRunTheSameWinners) {
  constexpr int kProcesses = 8, kKeys = 4, kRounds = 3;
  for (int round = 0; round < kRounds; ++round) {
    std::filesystem::remove(log_);
    for (const auto* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(path_ + suffix);
    std::vector<pid_t> children;
    for (int i = 0; i < kProcesses; ++i)
      children.push_back(start([&] {
        const auto kernel = test::planted_kernel({});
        const auto report = open()->warmup(items(kernel, kKeys));
        for (const auto& key : report.keys) say(key.key.str() + " " + key.winner->str());
        for (int c = 0; c < report.compiles; ++c) say("compiled");
        for (const auto& key : report.keys) say(std::string(name(key.outcome)));
        return 0;
      }));
    for (const auto child : children) EXPECT_EQ(finish(child), 0);
    auto found = lines();
    EXPECT_EQ(found["compiled"], 3) << "of three candidates";
    EXPECT_EQ(found["tuned"], kKeys);
    EXPECT_EQ(found["hit"], kKeys * (kProcesses - 1));
    for (const auto* word : {"compiled", "tuned", "hit"}) found.erase(word);
    EXPECT_EQ(found.size(), static_cast<std::size_t>(kKeys)) << "one winner a key";
    for (const auto& [line, count] : found) EXPECT_EQ(count, kProcesses) << line;
  }
}

TEST_F(LeasesTest, AKilledOwnerIsFollowedByTheNext) {
  const auto kernel = test::planted_kernel({});
  const auto owner = start([&] {
    const auto library = open();
    WarmupOptions options;
    options.progress = [](const Progress& progress) {
      if (progress.judged > 0) ::kill(getpid(), SIGKILL);
    };
    library->warmup(items(kernel, 1), options);
    return 1;
  });
  ASSERT_EQ(finish(owner), -SIGKILL);
  const auto report = open()->warmup(items(kernel, 1));
  EXPECT_EQ(report.keys.at(0).outcome, Outcome::tuned);
  EXPECT_NE(report.keys.at(0).note.find("resumed"), std::string::npos) << report.keys.at(0).note;
}

TEST_F(LeasesTest, AStoppedOwnerHoldsNobodyUpPastTheSetting) {
  const auto kernel = test::planted_kernel({});
  const test::Environment wait("STROP_TUNING_WAIT_S", "1");
  const auto owner = start([&] {
    WarmupOptions options;
    options.progress = [stopped = false](const Progress& progress) mutable {
      if (progress.judged > 0 && !std::exchange(stopped, true)) ::kill(getpid(), SIGSTOP);
    };
    open()->warmup(items(kernel, 1), options);
    return 0;
  });
  int status = 0;
  ASSERT_EQ(waitpid(owner, &status, WUNTRACED), owner);
  ASSERT_TRUE(WIFSTOPPED(status));
  const auto begin = Clock::now();
  EXPECT_EQ(open()->warmup(items(kernel, 1)).keys.at(0).outcome, Outcome::tuned);
  EXPECT_LT(Clock::now() - begin, 30s) << "it is tuned here, and not waited for";
  ::kill(owner, SIGCONT);
  EXPECT_EQ(finish(owner), 0) << "and goes on unharmed";
  EXPECT_EQ(open()->warmup(items(kernel, 1)).keys.at(0).outcome, Outcome::hit);
}

}  // namespace
}  // namespace strop::engine
