// Identities: what must change them, what must not, and that their texts tell why.

#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "jit/toolchain.h"
#include "tests/support/scale_kernel.h"

namespace strop::jit {
namespace {

using test::scale_kernel;
using test::scale_request;

std::set<std::string> lines(const std::string& text) {
  std::set<std::string> all;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) all.insert(line);
  return all;
}

// The labels of the lines that only one of the two has.
std::set<std::string> difference(const Ingredients& a, const Ingredients& b) {
  std::set<std::string> labels;
  const auto in_a = lines(a.text());
  const auto in_b = lines(b.text());
  for (const auto* side : {&in_a, &in_b})
    for (const auto& line : *side)
      if (!in_a.contains(line) || !in_b.contains(line)) labels.insert(line.substr(0, line.find('=')));
  return labels;
}

using Labels = std::set<std::string>;

TEST(CodeIdentity, is_the_same_for_the_same_request) {
  const auto kernel = scale_kernel();  // a copy: where the texts are does not matter
  EXPECT_EQ(code_identity(scale_request(kernel, "sm_90")).text(),
            code_identity(scale_request(scale_kernel(), "sm_90")).text());
}

TEST(CodeIdentity, names_its_ingredients) {
  const auto text = code_identity(scale_request(scale_kernel(), "sm_90", Config{{"factor", 3}})).text();
  for (const char* line :
       {"format=1\n", "kernel=scale\n", "target=sm_90\n", "constants={}\n", "config={factor=3, threads=64}\n",
        "options=--gpu-architecture=sm_90 --std=c++17 --ptxas-options=-v\n", "generated=#include ",
        "source scale/main.cuh=", "source common/cuda/prelude.cuh="})
    EXPECT_NE(text.find(line), std::string::npos) << line << "\nnot in\n" << text;
}

TEST(CodeIdentity, a_difference_of_two_texts_says_why_it_was_a_miss) {
  const auto base = code_identity(scale_request(scale_kernel(), "sm_90", Config{{"factor", 3}}));
  EXPECT_EQ(difference(base, code_identity(scale_request(scale_kernel(), "sm_90", Config{{"factor", 4}}))),
            (Labels{"config", "generated"}));
  EXPECT_EQ(difference(base, code_identity(scale_request(scale_kernel(), "sm_90a", Config{{"factor", 3}}))),
            (Labels{"target", "options"}));

  auto edited = scale_kernel();
  edited.sources["scale/parts.cuh"] += "// one more line\n";
  EXPECT_EQ(difference(base, code_identity(scale_request(edited, "sm_90", Config{{"factor", 3}}))),
            Labels{"source scale/parts.cuh"});

  auto resized = scale_kernel();
  resized.args_size = 32;
  EXPECT_EQ(difference(base, code_identity(scale_request(resized, "sm_90", Config{{"factor", 3}}))),
            Labels{"generated"});
}

TEST(CodeIdentity, of_one_side_knows_nothing_of_the_other_s_prelude) {
  const auto cuda = code_identity(scale_request(scale_kernel(), "sm_90")).text();
  const auto host = code_identity(scale_request(scale_kernel(), "x86_64")).text();
  EXPECT_EQ(cuda.find("common/host/"), std::string::npos);
  EXPECT_EQ(host.find("common/cuda/"), std::string::npos);
  EXPECT_NE(host.find("options=-std=c++17"), std::string::npos);
}

TEST(CodeIdentity, neighbours_can_not_run_together) {
  auto one = scale_kernel();
  one.sources["scale/parts.cuh"] = "AB";
  one.sources["scale/main.cuh"] = "#include \"scale/parts.cuh\"\nC";
  auto other = one;
  other.sources["scale/parts.cuh"] = "A";
  other.sources["scale/main.cuh"] = "B#include \"scale/parts.cuh\"\nC";
  EXPECT_NE(code_identity(scale_request(one, "sm_90")).digest(), code_identity(scale_request(other, "sm_90")).digest());
}

// A change of this digest means that every cached binary of every user is rebuilt: raise kFormat or mean it. The
// library's own texts are left out, as they change often.
TEST(CodeIdentity, golden) {
  const auto text = code_identity(scale_request(scale_kernel(), "sm_90", Config{{"factor", 3}})).text();
  std::string own;
  for (const auto& line : lines(text))
    if (!line.starts_with("source common/")) own += line + '\n';
  EXPECT_EQ(digest_of(own), "cc4e68662c6a0049274ee0202164b849ae573fa9b404c8b65b7b953b1051c2d0") << own;
}

TEST(TemplateIdentity, changes_with_every_ingredient) {
  const auto base = template_identity(scale_kernel(), false);
  const auto changed = [&](auto&& change) {
    auto kernel = scale_kernel();
    change(kernel);
    return difference(base, template_identity(kernel, false));
  };
  EXPECT_EQ(changed([](auto& kernel) { kernel.name = "other"; }), Labels{"kernel"});
  EXPECT_EQ(changed([](auto& kernel) { kernel.function = "other"; }), Labels{"function"});
  EXPECT_EQ(changed([](auto& kernel) { kernel.params = "other"; }), Labels{"params"});
  EXPECT_EQ(changed([](auto& kernel) { kernel.args = "other"; }), Labels{"args"});
  EXPECT_EQ(changed([](auto& kernel) { kernel.args_size = 8; }), Labels{"args_size"});
  EXPECT_EQ(changed([](auto& kernel) { kernel.arch_specific = true; }), Labels{"arch_specific"});
  EXPECT_EQ(changed([](auto& kernel) { kernel.sources["scale/main.cuh"] += ' '; }), Labels{"source scale/main.cuh"});
  EXPECT_EQ(changed([](auto& kernel) { kernel.sources["scale/unused.cuh"] = ""; }), Labels{});
  EXPECT_NE(base.text(), template_identity(scale_kernel(), true).text());
}

TEST(CompilerIdentity, has_name_version_and_the_beginning_of_the_build_id) {
  const Compiler compiler{
      .name = "nvrtc", .version = "13.0", .build_id = "0123456789abcdef0123", .path = "", .rule = "", .targets = {}};
  EXPECT_EQ(compiler.identity(), "nvrtc 13.0 (0123456789ab)");
}

}  // namespace
}  // namespace strop::jit
