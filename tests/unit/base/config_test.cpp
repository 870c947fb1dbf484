#include "strop/config.h"

#include <gtest/gtest.h>

#include "strop/error.h"

namespace strop {
namespace {

TEST(Config, IsNamedByItsContentWhateverTheOrderItWasWrittenIn) {
  const Config a{{"vec", 4}, {"rows", 16}};
  const Config b{{"rows", 16}, {"vec", 4}};
  EXPECT_EQ(a, b);
  EXPECT_EQ(a.str(), "{rows=16, vec=4}");
}

TEST(Config, TextFormReadsBackToTheSameConfig) {
  for (const Config& config : {Config{}, Config{{"a", -1}}, Config{{"z", 0}, {"b_2", 9223372036854775807}}}) {
    const auto read = Config::parse(config.str());
    ASSERT_TRUE(read) << config.str();
    EXPECT_EQ(*read, config);
  }
}

TEST(Config, TextThatIsNoConfigIsRefused) {
  for (const char* text : {"", "{", "}", "{a}", "{a=}", "{a=1,b=2}", "{a=1, }", "{a=1, a=2}", "{1a=1}", "{a=1.5}", "{a=1}x", "{a= 1}"})
    EXPECT_FALSE(Config::parse(text)) << text;
}

TEST(Config, MissingParameterIsNamedInTheError) {
  try {
    (void)Config{{"vec", 4}}.at("rows");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("'rows'"), std::string::npos);
  }
}

TEST(Config, ANameThatCouldNotStandInSourceIsRefused) {
  Config config;
  EXPECT_THROW(config.set("", 1), Error);
  EXPECT_THROW(config.set("a b", 1), Error);
  EXPECT_THROW(config.set("1a", 1), Error);
  EXPECT_THROW(config.set("a;int x", 1), Error);
}

}  // namespace
}  // namespace strop
