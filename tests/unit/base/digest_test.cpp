#include "src/base/digest.h"

#include <gtest/gtest.h>

namespace strop {
namespace {

TEST(Digest, IsBlake2bOf256Bits) {
  // Test vector: BLAKE2b-256 of the empty string.
  EXPECT_EQ(digest_of(""), "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8");
}

TEST(Digest, NeighbouringIngredientsCannotRunTogether) {
  EXPECT_NE(Ingredients().add("a", "bc").digest(), Ingredients().add("ab", "c").digest());
  EXPECT_NE(Ingredients().add("a", "1\nb=2").digest(), Ingredients().add("a", "1").add("b", "2").digest());
}

TEST(Digest, IngredientsPrintOneALine) {
  const auto text = Ingredients().add("target", "sm_90").add("note", "two\nlines\\").text();
  EXPECT_EQ(text, "target=sm_90\nnote=two\\nlines\\\\\n");
}

}  // namespace
}  // namespace strop
