// Which winners a filter selects, and which filters are refused.

#include <gtest/gtest.h>

#include "src/base/format.h"
#include "strop/error.h"
#include "tests/unit/cache/samples.h"

namespace strop::cache::test {
namespace {

bool driver_matches(const std::string& condition, const std::string& driver) {
  Filter filter;
  filter.driver = condition;
  return matches(winner_of(entry_of(4), "aa", driver), filter);
}

bool key_matches(const std::string& key) {
  Filter filter;
  filter.key = key;
  return matches(winner_of(entry_of(4), "aa"), filter);
}

bool kernel_matches(const std::string& kernel) {
  Filter filter;
  filter.kernel = kernel;
  return matches(winner_of(entry_of(4), "aa"), filter);
}

TEST(Filter, an_empty_one_matches_everything) { EXPECT_TRUE(matches(winner_of(entry_of(4), "aa"), {})); }

TEST(Filter, driver_versions_compare_number_by_number) {
  EXPECT_TRUE(driver_matches("<590", "580.159.03"));
  EXPECT_FALSE(driver_matches("<590", "590.44.01"));
  EXPECT_TRUE(driver_matches("<590.100", "590.44"));
  EXPECT_TRUE(driver_matches("<=580.95", "580.95"));
  EXPECT_FALSE(driver_matches("<=580.95", "580.100"));
  EXPECT_TRUE(driver_matches(">570", "580.159.03"));
  EXPECT_TRUE(driver_matches(">=580.159.03", "580.159.03"));
  EXPECT_TRUE(driver_matches("580.159.03", "580.159.03"));
  EXPECT_TRUE(driver_matches("=580.159.03", "580.159.03"));
  EXPECT_FALSE(driver_matches("=580", "580.159.03"));
}

TEST(Filter, an_unknown_driver_is_neither_below_nor_above) {
  EXPECT_FALSE(driver_matches("<590", "unknown"));
  EXPECT_FALSE(driver_matches(">1", "unknown"));
  EXPECT_TRUE(driver_matches("unknown", "unknown"));
}

TEST(Filter, a_key_is_a_handle_the_beginning_of_one_or_fields) {
  const auto name = handle(entry_of(4));
  EXPECT_EQ(name.size(), 12u);
  EXPECT_TRUE(key_matches(name));
  EXPECT_TRUE(key_matches(name.substr(0, 4)));
  EXPECT_FALSE(key_matches(handle(entry_of(3))));
  EXPECT_TRUE(key_matches("W=4"));
  EXPECT_TRUE(key_matches("W=4 D=2048 dtype=bf16"));
  EXPECT_FALSE(key_matches("W=3"));
  EXPECT_FALSE(key_matches("W=4 D=64"));
  EXPECT_FALSE(key_matches("absent=4"));
}

TEST(Filter, a_kernel_is_exact_or_a_pattern) {
  EXPECT_TRUE(kernel_matches("causal_conv1d"));
  EXPECT_TRUE(kernel_matches("causal_*"));
  EXPECT_TRUE(kernel_matches("causal_conv?d"));
  EXPECT_FALSE(kernel_matches("causal"));
  EXPECT_FALSE(kernel_matches("rms_*"));
  EXPECT_FALSE(kernel_matches("[c]ausal_conv1d"));
}

TEST(Filter, a_device_is_its_kind_or_part_of_its_name) {
  const auto with = [](const std::string& device) {
    Filter filter;
    filter.device = device;
    return matches(winner_of(entry_of(4), "aa"), filter);
  };
  EXPECT_TRUE(with("H200"));
  EXPECT_TRUE(with("nvidia h200"));
  for (const char* labelled : {"sms=132", "sm", "_", "\n", "kind", "="}) EXPECT_FALSE(with(labelled)) << labelled;
  auto host = winner_of(entry_of(4), "aa");
  host.id.device_class = "kind=host\nname=Intel\n";
  host.environment.device_name = "Intel";
  Filter filter;
  filter.device = "host";
  EXPECT_TRUE(matches(host, filter));
  filter.device = "hos";
  EXPECT_FALSE(matches(host, filter));
  EXPECT_FALSE(with("A100"));
}

TEST(Filter, age_counts_from_the_last_timing) {
  auto winner = winner_of(entry_of(4), "aa");
  winner.tuned_at = unix_now() - 100;
  winner.revalidated_at = 0;
  Filter filter;
  filter.older_than_s = 50;
  EXPECT_TRUE(matches(winner, filter));
  filter.older_than_s = 200;
  EXPECT_FALSE(matches(winner, filter));
  filter.older_than_s = 50;
  winner.revalidated_at = unix_now() - 10;
  EXPECT_FALSE(matches(winner, filter));
}

TEST(Filter, all_conditions_must_hold) {
  Filter filter;
  filter.kernel = "causal_*";
  filter.driver = "<590";
  EXPECT_TRUE(matches(winner_of(entry_of(4), "aa"), filter));
  filter.key = "W=3";
  EXPECT_FALSE(matches(winner_of(entry_of(4), "aa"), filter));
}

TEST(Filter, malformed_conditions_are_refused_whatever_is_stored) {
  const auto store = open_at("");
  for (const char* driver : {"<", "<>590", "=<590", "< 590", "590 600", "<=", "!=5", "==1", "<580,<590", "<-1", "<=580.95'", "<abc", "<unknown", "<580."}) {
    Filter filter;
    filter.driver = driver;
    EXPECT_THROW(store->list(filter), CacheError) << driver;
    EXPECT_THROW(matches(winner_of(entry_of(4), "aa", "unknown"), filter), CacheError) << driver;
    filter.kernel = "no_such_kernel";
    EXPECT_THROW(matches(winner_of(entry_of(4), "aa"), filter), CacheError) << driver;
  }
  for (const char* key : {"abc", "zzzz", "W 4", "=4"}) {
    Filter filter;
    filter.key = key;
    EXPECT_THROW(store->list(filter), CacheError) << key;
  }
}

}  // namespace
}  // namespace strop::cache::test
