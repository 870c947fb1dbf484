// strop doctor and strop templates: what is here, what is missing, what to do.

#include <fstream>

#include "tests/cli/command_fixture.h"

namespace strop::test {
namespace {

using Doctor = Command;

TEST_F(Doctor, says_what_is_missing_and_what_to_do) {
  const auto document = json({"doctor"});
  EXPECT_EQ(document["version"], STROP_VERSION);
  EXPECT_EQ(document["driver"]["status"], "no_library");
  EXPECT_NE(document["driver"]["reason"].get<std::string>().find("no-libcuda.so.1"), std::string::npos) << document;
  EXPECT_EQ(document["nvrtc"]["found"], false);
  EXPECT_EQ(document["host_compiler"]["found"], true);
  ASSERT_EQ(document["devices"].size(), 1u);
  EXPECT_EQ(document["devices"][0]["kind"], "host");
  EXPECT_EQ(document["cache"]["path"], cache_file());
  EXPECT_EQ(document["cache"]["exists"], false);
  EXPECT_EQ(document["cache"]["writable"], true);
  EXPECT_EQ(document["usable"], true);
  ASSERT_FALSE(document["advice"].empty());
  EXPECT_TRUE(document["advice"][0].get<std::string>().starts_with("GPU: ")) << document["advice"];
}

TEST_F(Doctor, shows_every_setting_with_its_origin) {
  const auto document = json({"doctor"});
  bool found = false;
  for (const auto& setting : document["settings"]) {
    if (setting["variable"] == "STROP_CACHE") {
      found = true;
      EXPECT_EQ(setting["value"], cache_file());
      EXPECT_EQ(setting["origin"], "environment STROP_CACHE");
    }
    if (setting["variable"] == "STROP_DEVICE") {
      EXPECT_EQ(setting["origin"], "default");
    }
  }
  EXPECT_TRUE(found);
  const auto page = strop({"doctor"}).out;
  EXPECT_NE(page.find("what to do"), std::string::npos) << page;
  EXPECT_NE(page.find("environment STROP_LIBCUDA"), std::string::npos) << page;
}

TEST_F(Doctor, fails_where_nothing_could_be_tuned) {
  options_.environment["STROP_CXX"] = (home_ / "no-compiler").string();
  const auto document = json({"doctor"}, 1);
  EXPECT_EQ(document["usable"], false);
  EXPECT_NE(document["advice"].dump().find("no-compiler"), std::string::npos) << document["advice"];
}

TEST_F(Doctor, finds_out_that_a_compiler_makes_nothing) {
  const auto script = home_ / "liar";
  std::ofstream(script) << "#!/bin/sh\n[ \"$1\" = --version ] && echo 'g++ 12.2.0' || exit 0\n";
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  for (const std::string compiler : {"/bin/true", script.c_str()}) {
    options_.environment["STROP_CXX"] = compiler;
    const auto document = json({"doctor"}, 1);
    EXPECT_EQ(document["host_compiler"]["works"], false) << document["host_compiler"];
    EXPECT_EQ(document["usable"], false);
    EXPECT_NE(document["error"].get<std::string>().find("STROP_CXX"), std::string::npos) << document["error"];
    const auto page = strop({"doctor"});
    EXPECT_EQ(page.out.find("host       ok"), std::string::npos) << page.out;
    EXPECT_NE(page.err.find(compiler), std::string::npos) << page.err;
  }
}

TEST_F(Doctor, tries_the_compiler_that_it_calls_ok) {
  EXPECT_EQ(json({"doctor"})["host_compiler"]["works"], true);
}

TEST_F(Doctor, fails_where_the_device_that_is_set_is_not_here) {
  options_.environment["STROP_DEVICE"] = "cuda";
  const auto document = json({"doctor"}, 1);
  EXPECT_NE(document["error"].get<std::string>().find("STROP_DEVICE=cuda"), std::string::npos) << document["error"];
  options_.environment["STROP_DEVICE"] = "host";
  EXPECT_FALSE(json({"doctor"}).contains("error"));
}

TEST_F(Doctor, answers_a_script_that_needs_a_gpu) {
  EXPECT_EQ(json({"doctor", "--require-gpu"}, 1)["gpu"], false);
  EXPECT_NE(strop({"doctor", "--require-gpu"}).err.find("no usable GPU"), std::string::npos);
}

TEST_F(Doctor, templates_have_their_space_and_their_text) {
  const auto document = json({"templates"});
  ASSERT_EQ(document["ops"][0]["op"], "causal_conv1d");
  const auto& kernels = document["ops"][0]["kernels"];
  ASSERT_EQ(kernels.size(), 5u);
  for (const auto& kernel : kernels) {
    EXPECT_FALSE(kernel["parameters"].empty());
    EXPECT_FALSE(kernel["default"].empty());
    EXPECT_EQ(kernel["template_digest"].get<std::string>().size(), 64u);
    const auto text = strop({"templates", "--show", kernel["file"].get<std::string>()});
    EXPECT_NE(text.out.find("template <class P>"), std::string::npos);
    EXPECT_EQ(json({"templates", "--show", kernel["file"].get<std::string>()})["text"], text.out);
  }
  const auto unknown = strop({"templates", "--show", "nothing.cuh"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_NE(unknown.err.find("causal_conv1d/fwd.cuh"), std::string::npos) << unknown.err;
}

}  // namespace
}  // namespace strop::test
