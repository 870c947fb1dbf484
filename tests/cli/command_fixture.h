#pragma once

// The command in a world of its own: an empty home, a cache below it, no GPU, no driver and no NVRTC unless a test says
// otherwise.

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cache/store.h"
#include "tests/cli/run_command.h"

namespace strop::test {

class Command : public testing::Test {
 protected:
  Command();
  ~Command() override;

  Ran strop(const std::vector<std::string>& arguments) const { return strop(arguments, options_); }
  Ran strop(const std::vector<std::string>& arguments, const RunOptions& options) const;
  // The document on standard output; fails the test when there is none or the exit code is another.
  nlohmann::json json(std::vector<std::string> arguments, int exit_code = 0) const;

  std::string cache_file() const { return (home_ / "cache" / "strop.db").string(); }
  // A winner of an H200 with two trials, as a warmup there would have left it.
  void remember(const std::string& kernel, std::int64_t D, const std::string& driver,
                std::int64_t tuned_at = 1700000000, const std::string& why = "the only one left") const;
  // The trial that an interrupted warmup there would have left.
  void interrupt(const std::string& kernel, std::int64_t D, const std::string& driver) const;
  // Ids of what is listed.
  std::vector<std::string> listed() const;

  std::filesystem::path home_;
  RunOptions options_;

 private:
  static cache::Winner example(const std::string& kernel, std::int64_t D, const std::string& driver);
  std::unique_ptr<cache::Store> store() const;
};

}  // namespace strop::test
