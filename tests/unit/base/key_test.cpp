#include "strop/key.h"

#include <gtest/gtest.h>

#include "strop/error.h"

namespace strop {
namespace {

Key conv(std::int64_t B, std::int64_t T, std::int64_t D, std::string_view dtype = "bf16") {
  Key key;
  key.add("B", B).add("T", T).add("D", D).add("dtype", dtype);
  return key;
}

TEST(Key, TextFormReadsBackToTheSameKey) {
  const auto key = conv(16, 8192, 2048);
  EXPECT_EQ(key.str(), "B=16 T=8192 D=2048 dtype=bf16");
  ASSERT_TRUE(Key::parse(key.str()));
  EXPECT_EQ(*Key::parse(key.str()), key);
}

TEST(Key, AWordThatReadsAsANumberIsRefusedSinceItWouldComeBackAsOne) {
  Key key;
  EXPECT_THROW(key.add("a", "16"), Error);
  EXPECT_THROW(key.add("a", "two words"), Error);
  EXPECT_THROW(key.add("a", ""), Error);
  EXPECT_NO_THROW(key.add("a", "v16"));
  EXPECT_THROW(key.add("a", 1), Error) << "the same field twice";
}

TEST(Key, TextThatIsNoKeyIsRefused) {
  for (const char* text : {"B", "B=", "=1", "B=1  D=2", "B=1 ", "B=1 B=2", "B=a/b"}) EXPECT_FALSE(Key::parse(text)) << text;
}

TEST(Key, NearnessIsTheSumOfTheLogarithmsOfTheRatios) {
  EXPECT_DOUBLE_EQ(*conv(16, 8192, 2048).distance(conv(16, 8192, 2048)), 0);
  EXPECT_DOUBLE_EQ(*conv(16, 8192, 2048).distance(conv(8, 8192, 4096)), 2);
}

TEST(Key, KeysOfOtherDtypesOrFieldsMeanNothingToEachOther) {
  EXPECT_FALSE(conv(16, 8192, 2048).distance(conv(16, 8192, 2048, "fp16")));
  Key other;
  other.add("B", 16);
  EXPECT_FALSE(conv(16, 8192, 2048).distance(other));
  EXPECT_FALSE(conv(0, 8192, 2048).distance(conv(16, 8192, 2048)));
}

}  // namespace
}  // namespace strop
