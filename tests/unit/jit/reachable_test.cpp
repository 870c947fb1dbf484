// Which texts a kernel reaches, and which it may not.

#include <gtest/gtest.h>

#include "jit/toolchain.h"
#include "strop/error.h"
#include "tests/support/scale_kernel.h"

namespace strop::jit {
namespace {

using test::scale_kernel;

// The message of the refusal; empty when it is none.
std::string refusal(const KernelTemplate& kernel) {
  try {
    reachable_sources(kernel, true);
    return {};
  } catch (const CompileError& error) {
    return error.what();
  }
}

KernelTemplate with_source(const std::string& name, const std::string& text) {
  auto kernel = scale_kernel();
  kernel.sources[name] = text;
  return kernel;
}

bool says(const std::string& message, const std::string& words) { return message.find(words) != std::string::npos; }

TEST(ReachableSources, are_the_kernels_own_and_the_library_s_of_one_side) {
  const auto cuda = reachable_sources(scale_kernel(), false);
  const auto host = reachable_sources(scale_kernel(), true);
  for (const auto* side : {&cuda, &host})
    for (const char* name : {"scale/main.cuh", "scale/parts.cuh", "common/types.cuh"})
      EXPECT_TRUE(side->contains(name)) << name;
  for (const auto& [name, text] : cuda) EXPECT_FALSE(name.starts_with("common/host/")) << name;
  for (const auto& [name, text] : host) EXPECT_FALSE(name.starts_with("common/cuda/")) << name;
  EXPECT_TRUE(cuda.contains("common/cuda/prelude.cuh"));
  EXPECT_TRUE(host.contains("common/host/prelude.h"));
}

TEST(ReachableSources, leave_out_what_is_not_included) {
  EXPECT_EQ(reachable_sources(with_source("scale/unused.cuh", "int unused;"), true),
            reachable_sources(scale_kernel(), true));
}

TEST(ReachableSources, may_include_one_another_in_a_circle) {
  EXPECT_EQ(refusal(with_source("scale/parts.cuh", "#pragma once\n#include \"scale/main.cuh\"\n")), "");
}

TEST(ReachableSources, a_missing_include_is_named_with_who_includes_it) {
  const auto message = refusal(with_source("scale/parts.cuh", "#include \"scale/missing.cuh\"\n"));
  EXPECT_TRUE(says(message, "kernel scale") && says(message, "'scale/missing.cuh'") &&
              says(message, "included by scale/parts.cuh"))
      << message;
}

TEST(ReachableSources, a_missing_main_text_is_named) {
  auto kernel = scale_kernel();
  kernel.file = "scale/other.cuh";
  EXPECT_TRUE(says(refusal(kernel), "'scale/other.cuh'"));
}

TEST(ReachableSources, an_include_relative_to_its_folder_is_refused_with_the_right_name) {
  auto kernel = with_source("scale/parts.cuh", "#include \"more.cuh\"\n");
  kernel.sources["scale/more.cuh"] = "";
  EXPECT_TRUE(says(refusal(kernel), "write it from the root: \"scale/more.cuh\"")) << refusal(kernel);
  kernel.sources["more.cuh"] = "";
  EXPECT_TRUE(says(refusal(kernel), "may be 'more.cuh' or 'scale/more.cuh'")) << refusal(kernel);
}

TEST(ReachableSources, text_that_no_identity_knows_is_refused) {
  EXPECT_TRUE(says(refusal(with_source("scale/parts.cuh", "#include <cuda_bf16.h>\n")), "includes <cuda_bf16.h>"));
  EXPECT_TRUE(says(refusal(with_source("scale/parts.cuh", "#define F \"x\"\n#include F\n")), "includes F"));
}

TEST(ReachableSources, the_library_s_texts_can_not_be_shadowed) {
  EXPECT_TRUE(says(refusal(with_source("common/types.cuh", "")), "are the library's"));
}

TEST(ReachableSources, names_that_leave_the_folder_are_refused) {
  for (const std::string name : {"/etc/passwd", "../x.cuh", "a/../../x.cuh", "a b.cuh", "a\nb"}) {
    auto kernel = with_source(name, "");
    kernel.file = name;
    EXPECT_TRUE(says(refusal(kernel), "is not a relative path")) << name;
  }
}

}  // namespace
}  // namespace strop::jit
