#include "src/base/format.h"

#include <clocale>
#include <limits>

#include <gtest/gtest.h>

namespace strop {
namespace {

TEST(Format, NumbersKeepTheirPointWhateverTheLocale) {
  const std::string before = std::setlocale(LC_ALL, nullptr);
  for (const char* locale : {"de_DE.UTF-8", "fr_FR.UTF-8", "C.UTF-8"}) std::setlocale(LC_ALL, locale);
  EXPECT_EQ(to_text(0.5), "0.5");
  EXPECT_EQ(to_double("0.5"), 0.5);
  EXPECT_FALSE(to_double("0,5"));
  std::setlocale(LC_ALL, before.c_str());
}

TEST(Format, DoublesReadBackToTheSameBits) {
  for (const double value : {0.1, 1e-300, 255.2, -0.0, std::numeric_limits<double>::max()}) EXPECT_EQ(to_double(to_text(value)), value);
}

TEST(Format, TextAroundANumberIsRefused) {
  EXPECT_FALSE(to_int(""));
  EXPECT_FALSE(to_int("1 "));
  EXPECT_FALSE(to_int("0x10"));
  EXPECT_FALSE(to_int("9223372036854775808"));
  EXPECT_EQ(to_int("-7"), -7);
}

TEST(Format, VersionsCompareNumberByNumber) {
  EXPECT_LT(compare_versions("580.95", "580.159.03"), 0);
  EXPECT_LT(compare_versions("580", "580.1"), 0);
  EXPECT_GT(compare_versions("590.44.01", "580.159.03"), 0);
  EXPECT_EQ(compare_versions("590.1", "590.1"), 0);
  EXPECT_LT(compare_versions("590", "unknown"), 0);
}

TEST(Format, BytesAndTimesReadAsPeopleWriteThem) {
  EXPECT_EQ(bytes_text(512), "512 B");
  EXPECT_EQ(bytes_text(1536), "1.5 KiB");
  EXPECT_EQ(utc_text(1796083200), "2026-12-01T00:00:00Z");
}

}  // namespace
}  // namespace strop
