#include "src/base/settings.h"

#include <cstdlib>
#include <set>

#include <gtest/gtest.h>

#include "strop/error.h"

namespace strop {
namespace {

TEST(Settings, EveryValueTellsWhereItCameFrom) {
  ::unsetenv("STROP_ON_MISS");
  settings::reload();
  EXPECT_EQ(settings::get("on_miss").text, "tune");
  EXPECT_EQ(settings::get("on_miss").origin, "default");
  ::setenv("STROP_ON_MISS", "nearest", 1);
  EXPECT_EQ(settings::get("on_miss").text, "tune") << "read once, the same for the life of the process";
  settings::reload();
  EXPECT_EQ(settings::get("on_miss").text, "nearest");
  EXPECT_EQ(settings::get("on_miss").origin, "environment STROP_ON_MISS");
  ::unsetenv("STROP_ON_MISS");
  settings::reload();
}

TEST(Settings, AnEmptyVariableIsNotGiven) {
  ::setenv("STROP_DEVICE", "", 1);
  settings::reload();
  EXPECT_EQ(settings::get("device").text, "auto");
  ::unsetenv("STROP_DEVICE");
  settings::reload();
}

TEST(Settings, TheTableHasNoTwoOfAName) {
  std::set<std::string_view> names;
  for (const auto& setting : settings::table()) {
    EXPECT_TRUE(names.insert(setting.name).second) << setting.name;
    EXPECT_TRUE(setting.variable.starts_with("STROP_")) << setting.variable;
    EXPECT_FALSE(setting.meaning.empty());
  }
  EXPECT_THROW((void)settings::get("no_such_setting"), Error);
}

}  // namespace
}  // namespace strop
