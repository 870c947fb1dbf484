#include "tests/cli/command_fixture.h"

#include <stdlib.h>

#include "strop/device_facts.h"

namespace strop::test {
namespace {

DeviceFacts h200() {
  DeviceFacts facts;
  facts.kind = DeviceKind::cuda;
  facts.name = "NVIDIA H200";
  facts.arch = "sm_90";
  facts.sm_count = 132;
  return facts;
}

cache::StoredTrial trial_of(const cache::Winner& winner, const Config& config, Verdict verdict, double median_us) {
  cache::StoredTrial stored;
  stored.id = winner.id;
  stored.environment = winner.environment;
  stored.trial.config = config;
  stored.trial.verdict = verdict;
  stored.trial.detail = verdict == Verdict::ok ? "" : "y[3]: 1 instead of 2";
  stored.trial.time = {median_us, 0.5, median_us - 1, verdict == Verdict::ok ? 40 : 0};
  stored.trial.resources.registers = 48;
  stored.trial.resources.spill_store_bytes = 8;
  stored.trial.resources.spill_load_bytes = 16;
  stored.trial.resources.static_shared = 1024;
  stored.code = "code of " + config.str();
  return stored;
}

}  // namespace

Command::Command() {
  std::string pattern = (std::filesystem::temp_directory_path() / "strop-cli-XXXXXX").string();
  home_ = ::mkdtemp(pattern.data());
  options_.environment = {{"HOME", home_.string()},
                          {"XDG_CACHE_HOME", std::nullopt},
                          {"STROP_CACHE", cache_file()},
                          {"STROP_LIBCUDA", (home_ / "no-libcuda.so.1").string()},
                          {"STROP_NVRTC", (home_ / "no-nvrtc").string()},
                          {"STROP_LOG", std::nullopt},
                          {"STROP_DEVICE", std::nullopt},
                          {"NO_COLOR", std::nullopt},
                          {"TERM", "xterm"}};
}

Command::~Command() {
  std::error_code ignored;
  std::filesystem::remove_all(home_, ignored);
}

Ran Command::strop(const std::vector<std::string>& arguments, const RunOptions& options) const {
  return run_program(STROP_COMMAND, arguments, options);
}

nlohmann::json Command::json(std::vector<std::string> arguments, int exit_code) const {
  arguments.emplace_back("--json");
  const auto ran = strop(arguments);
  EXPECT_EQ(ran.exit_code, exit_code) << ran.err;
  auto document = nlohmann::json::parse(ran.out, nullptr, false);
  EXPECT_FALSE(document.is_discarded()) << ran.out;
  EXPECT_EQ(document.value("schema", 0), 1) << ran.out;
  return document;
}

cache::Winner Command::example(const std::string& kernel, std::int64_t D, const std::string& driver) {
  cache::Winner winner;
  winner.id.kernel = kernel;
  winner.id.key.add("B", 16).add("T", 8192).add("D", D).add("W", 4).add("dtype", "bf16");
  winner.id.device_class = h200().device_class();
  winner.id.template_digest = "digest of a template";
  winner.environment.device_class = winner.id.device_class;
  winner.environment.device_name = "NVIDIA H200";
  winner.environment.driver = driver;
  winner.environment.driver_user_mode = driver;
  winner.environment.compiler = "nvrtc 13.0.88 (1a2b3c4d)";
  winner.environment.strop_version = "0.1.0";
  winner.config = Config{{"rows", 64}, {"vec", 8}};
  winner.code = "code of " + winner.config.str();
  winner.time = {100.5, 0.5, 99.5, 40};
  winner.candidates = 2;
  winner.rejected = 1;
  return winner;
}

std::unique_ptr<cache::Store> Command::store() const {
  std::filesystem::create_directories(home_ / "cache");
  cache::StoreOptions options;
  options.path = cache_file();
  return cache::Store::open(options);
}

void Command::remember(const std::string& kernel, std::int64_t D, const std::string& driver,
                       std::int64_t tuned_at, const std::string& why) const {
  const auto store = this->store();
  auto winner = example(kernel, D, driver);
  winner.why = why;
  winner.tuned_at = tuned_at;
  ASSERT_TRUE(store->put_trial(trial_of(winner, winner.config, Verdict::ok, 100.5)));
  ASSERT_TRUE(store->put_trial(trial_of(winner, Config{{"rows", 32}, {"vec", 4}}, Verdict::wrong_result, 0)));
  ASSERT_TRUE(store->put_winner(winner, std::nullopt));
}

void Command::interrupt(const std::string& kernel, std::int64_t D, const std::string& driver) const {
  const auto winner = example(kernel, D, driver);
  auto trial = trial_of(winner, winner.config, Verdict::ok, 100.5);
  trial.landed_at = 1700000000;
  ASSERT_TRUE(store()->put_trial(trial));
}

std::vector<std::string> Command::listed() const {
  std::vector<std::string> ids;
  const auto document = json({"cache", "list"});
  for (const auto& entry : document["entries"]) ids.push_back(entry["id"]);
  return ids;
}

}  // namespace strop::test
