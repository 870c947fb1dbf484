// What no text of the project may contain, and proof that the measures of these tests can fail.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <regex>
#include <string>

#include "tests/structure/source_tree.h"

namespace strop::structure {
namespace {

// Paths of somebody's machine: a home, or a working folder at the root. Written in pieces, or this file would be the
// first hit.
const std::regex& machine_path() {
  static const std::regex pattern(std::string(R"((^|[\s"'`(=:]|-I))") + R"(/(root|home|Users|work|workspace|mnt)/)" +
                                  R"([\w.])");
  return pattern;
}

TEST(Texts, the_documents_and_build_files_are_among_them) {
  EXPECT_FALSE(text_of("ARCHITECTURE.md").lines.empty());
  EXPECT_FALSE(text_of("CMakeLists.txt").lines.empty());
  EXPECT_FALSE(text_of("cmake/StropPolicy.cmake").lines.empty());
  EXPECT_FALSE(text_of("tools/test.sh").lines.empty());
  EXPECT_TRUE(text_of("no/such/file").lines.empty());
}

TEST(Texts, no_file_holds_a_path_of_a_machine) {
  for (const auto& file : texts()) {
    if (file.path.starts_with("tests/")) continue;  // made-up paths are what tests of path rules are about
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      EXPECT_FALSE(std::regex_search(file.lines[i], machine_path()))
          << file.path << ":" << i + 1 << ": " << file.lines[i];
    }
  }
}

TEST(Texts, a_path_of_a_machine_is_seen_where_it_stands) {
  for (const char* place :
       {"/%s/me/strop", "include \"/%s/x.h\"", "-I/%s/strop", "see `/%s/notes.md`", "PATH=/%s/bin"}) {
    for (const char* root : {"root", "home", "work"}) {
      std::string line = place;
      line.replace(line.find("%s"), 2, root);
      EXPECT_TRUE(std::regex_search(line, machine_path())) << line;
    }
  }
  for (const char* fine :
       {"/usr/local/cuda/lib64", "$HOME/.cache/strop", "tests/work/x", "the work/rest ratio", "https://x.org/home/y"})
    EXPECT_FALSE(std::regex_search(std::string(fine), machine_path())) << fine;
}

TEST(Texts, includes_are_seen_in_every_form_and_not_inside_raw_strings) {
  const SourceFile file{
      "made_up.cpp",
      {"#include <vector>", "  #  include \"cache/store.h\"  // why", "// #include \"jit/source.h\"",
       "const char* kernel = R\"cuda(", "#include \"common/types.cuh\"", ")cuda\";", "#include \"tuner/check.h\""}};
  const auto found = includes_of(file);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].path, "vector");
  EXPECT_FALSE(found[0].quoted);
  EXPECT_EQ(found[1].path, "cache/store.h");
  EXPECT_EQ(found[2].path, "tuner/check.h");
  EXPECT_EQ(found[2].line, 7);
}

TEST(Texts, arrows_are_read_from_their_section_only) {
  const SourceFile plan{"made_up.md",
                        {"## Rooms", "    jit     engine", "## Arrows", "Some words.", "    jit         base",
                         "    device      base, templates   (only one)", "    base        -",
                         "    not a line of it, because of the words", "## Promises", "    base        engine"}};
  const std::map<std::string, std::set<std::string>> expected{
      {"jit", {"base"}}, {"device", {"base", "templates"}}, {"base", {}}};
  EXPECT_EQ(arrows_of(plan), expected);
}

}  // namespace
}  // namespace strop::structure
