// Which of the driver's answers end a context: what is wrongly taken for survivable makes false verdicts of all that follow.

#include <gtest/gtest.h>

#include "strop/error.h"

namespace strop {
namespace {

bool sticky(int code) { return CudaError(code, "CUDA_ERROR", "cuStreamSynchronize", "failed").sticky(); }

TEST(CudaErrors, that_end_the_context_are_sticky) {
  for (const int code : {214, 220, 226, 700, 702, 710, 714, 715, 716, 717, 718, 719, 721}) EXPECT_TRUE(sticky(code)) << code;
}

TEST(CudaErrors, that_refuse_one_call_are_not) {
  // Invalid value, no memory, invalid image, not found, out of resources, peer access, a capture's, not ready.
  for (const int code : {1, 2, 200, 500, 600, 701, 704, 720, 801, 900, 906}) EXPECT_FALSE(sticky(code)) << code;
}

}  // namespace
}  // namespace strop
