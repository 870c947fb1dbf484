#include "strop/space.h"

#include <gtest/gtest.h>

#include "strop/error.h"

namespace strop {
namespace {

Space small_space() {
  Space space;
  space.parameter("vec", {1, 2, 4}).parameter("threads", {64, 128});
  space.restrict("vec must divide D", [](const Config& c, const Config& k, const DeviceFacts&) { return k["D"] % c["vec"] == 0; });
  space.fallback({{"vec", 1}, {"threads", 128}});
  return space;
}

TEST(Space, TheDefaultComesFirstAndTheRestInDeclaredOrder) {
  const auto configs = small_space().configs({{"D", 8}}, {});
  ASSERT_EQ(configs.size(), 6U);
  EXPECT_EQ(configs[0].str(), "{threads=128, vec=1}");
  EXPECT_EQ(configs[1].str(), "{threads=64, vec=1}");
  EXPECT_EQ(configs[5].str(), "{threads=128, vec=4}");
}

TEST(Space, RestrictionsRejectBeforeAnythingIsCompiledAndSayWhy) {
  const auto space = small_space();
  EXPECT_EQ(space.configs({{"D", 6}}, {}).size(), 4U);
  EXPECT_EQ(space.why_illegal({{"vec", 4}, {"threads", 64}}, {{"D", 6}}, {}), "vec must divide D");
  EXPECT_EQ(space.why_illegal({{"vec", 3}, {"threads", 64}}, {{"D", 6}}, {}), "vec=3 is not in the space");
  EXPECT_EQ(space.why_illegal({{"vec", 1}}, {{"D", 6}}, {}), "no value for 'threads'");
}

TEST(Space, AKernelWithNothingToTuneHasOneCandidate) { EXPECT_EQ(Space().configs({}, {}).size(), 1U); }

TEST(Space, WhatOnlyTheLaunchNeedsIsNotCompiledIn) {
  Space space;
  space.parameter("vec", {1, 2}).launch_parameter("units", {1, 2, 4}).fallback({{"vec", 1}, {"units", 1}});
  EXPECT_EQ(space.configs({}, {}).size(), 6U);
  EXPECT_EQ(space.compiled_part({{"vec", 2}, {"units", 4}}), (Config{{"vec", 2}}));
}

TEST(Space, MistakesInADeclarationAreNamed) {
  Space space;
  space.parameter("vec", {1});
  EXPECT_THROW(space.parameter("vec", {2}), Error);
  EXPECT_THROW(space.parameter("empty", {}), Error);
  EXPECT_THROW(space.fallback({{"threads", 1}}), Error);
}

TEST(Space, AChangedSpaceDescribesItselfDifferently) {
  auto other = small_space();
  other.parameter("rows", {8});
  EXPECT_NE(other.describe(), small_space().describe());
}

}  // namespace
}  // namespace strop
