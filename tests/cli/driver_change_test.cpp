// A driver upgrade, made by editing the version in the database: suspect, served, timed again, thrown out exactly.

#include <sqlite3.h>

#include <algorithm>

#include "tests/cli/command_fixture.h"

namespace strop::test {
namespace {

class DriverChange : public Command {
 protected:
  DriverChange() { cold_ = json(warmup_); }

  // What every stored timing was made with, as if the machine had another driver since.
  void edit_driver(const std::string& driver) const {
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(cache_file().c_str(), &database), SQLITE_OK);
    const auto sql = "UPDATE environment_v1 SET driver = '" + driver + "', driver_user_mode = '" + driver + "'";
    EXPECT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(database);
    EXPECT_GT(sqlite3_changes(database), 0);
    sqlite3_close(database);
  }

  std::size_t in_state(const std::string& state) const {
    const auto document = json({"cache", "list"});
    const auto& entries = document["entries"];
    return static_cast<std::size_t>(
        std::count_if(entries.begin(), entries.end(), [&](const auto& entry) { return entry["state"] == state; }));
  }

  void expect_few_timings(const nlohmann::json& report) const {
    ASSERT_EQ(report["keys"].size(), keys());
    // Winners' binaries survive a driver change; those of the losers, which are not kept, are made again.
    EXPECT_LE(report["compiles"], 3 * keys()) << report;
    EXPECT_LE(report["timings"], 4 * keys());
    EXPECT_GT(report["timings"], 0);
    for (const auto& key : report["keys"]) {
      EXPECT_EQ(key["outcome"], "revalidated") << key;
      EXPECT_TRUE(key.contains("previous")) << key;
      EXPECT_GT(key["previous_us"], 0);
    }
  }

  // Another line of training shapes, with what its layer asks for.
  std::size_t warm_too(const std::vector<std::string>& layer) const {
    auto words =
        std::vector<std::string>{"warmup", "causal_conv1d", "--device", "host", "--B", "1", "--T", "8", "--D", "1"};
    words.insert(words.end(), layer.begin(), layer.end());
    return json(words)["keys"].size();
  }

  std::size_t keys() const { return cold_["keys"].size(); }

  const std::vector<std::string> warmup_{"warmup", "causal_conv1d", "--device", "host", "--B",
                                         "1",      "--T",           "24",       "--D",  "16"};
  nlohmann::json cold_;
};

TEST_F(DriverChange, winners_are_suspect_with_the_reason_and_revalidated_with_few_timings) {
  edit_driver("unknown");
  EXPECT_EQ(in_state("current"), keys()) << "what is not known is no evidence of change";
  edit_driver("570.1");
  EXPECT_EQ(in_state("suspect"), keys());
  const auto list = json({"cache", "list"});
  EXPECT_NE(list["entries"][0]["reason"].get<std::string>().find("driver 570.1 -> "), std::string::npos) << list;
  expect_few_timings(json({"cache", "revalidate"}));
  EXPECT_EQ(in_state("current"), keys());
  EXPECT_TRUE(json({"cache", "revalidate"})["keys"].empty()) << "there is nothing left to time again";
}

TEST_F(DriverChange, what_a_layer_asks_for_is_revalidated_like_the_plain_one) {
  const auto others = warm_too({"--bias", "--activation", "none"}) +
                      warm_too({"--packed", "2", "--initial-state", "--final-state", "--residual"});
  EXPECT_EQ(others, 3u + 5u);
  edit_driver("570.1");
  EXPECT_EQ(in_state("suspect"), keys() + others);
  const auto report = json({"cache", "revalidate"});
  EXPECT_TRUE(report["skipped"].empty()) << report["skipped"];
  ASSERT_EQ(report["keys"].size(), keys() + others);
  std::size_t biased = 0, packed = 0;
  for (const auto& key : report["keys"]) {
    EXPECT_EQ(key["outcome"], "revalidated") << key;
    if (key["key"].value("bias", "") == "yes") ++biased;
    if (key["key"].value("seqs", "") == "packed-int32") ++packed;
  }
  EXPECT_EQ(biased, 3u);
  EXPECT_EQ(packed, 4u) << "all but the reduction, which reads no sequences";
  EXPECT_EQ(in_state("current"), keys() + others);
}

TEST_F(DriverChange, a_warmup_times_the_best_few_again_and_says_so_once) {
  edit_driver("570.1");
  const auto ran = strop(warmup_);
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_NE(ran.out.find("revalidated in "), std::string::npos) << ran.out;
  const auto first = ran.err.find("570.1");
  EXPECT_NE(first, std::string::npos) << ran.err;
  EXPECT_EQ(ran.err.find("are served as they are", ran.err.find("are served as they are") + 1), std::string::npos)
      << ran.err;
  EXPECT_EQ(in_state("current"), keys());
}

TEST_F(DriverChange, what_the_old_driver_left_is_thrown_out_exactly) {
  remember("causal_conv1d_fwd", 2048, "595.10");
  edit_driver("570.1");
  remember("causal_conv1d_fwd", 4096, "595.20");
  EXPECT_EQ(json({"cache", "invalidate", "--stale", "--dry-run"})["entries"].size(), keys() + 2)
      << "the edited ones, and two of another template";
  EXPECT_EQ(json({"cache", "invalidate", "--driver", "<590", "--yes"})["removed"], keys() + 1);
  const auto left = json({"cache", "list"});
  ASSERT_EQ(left["entries"].size(), 1u);
  EXPECT_EQ(left["entries"][0]["driver"], "595.20");
}

}  // namespace
}  // namespace strop::test
