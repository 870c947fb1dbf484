// The build rule that puts the templates into the library.

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "jit/toolchain.h"

namespace strop::jit {
namespace {

TEST(EmbeddedTemplates, are_the_files_byte_for_byte) {
  ASSERT_TRUE(embedded_templates().contains("common/cuda/prelude.cuh"));
  ASSERT_TRUE(embedded_templates().contains("common/host/prelude.h"));
  for (const auto& [name, text] : embedded_templates()) {
    std::ifstream file(STROP_TEMPLATE_ROOT "/" + name, std::ios::binary);
    const std::string on_disk{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    ASSERT_FALSE(on_disk.empty()) << name;
    EXPECT_EQ(text, on_disk) << name;
  }
}

}  // namespace
}  // namespace strop::jit
