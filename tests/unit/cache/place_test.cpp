// Where the database is, by the rules of docs/settings.md.

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "tests/support/test_folder.h"
#include "tests/unit/cache/child.h"
#include "tests/unit/cache/samples.h"

namespace strop::cache::test {
namespace {

namespace fs = std::filesystem;
using Variable = strop::test::Environment;

class PlaceTest : public ::testing::Test {
 protected:
  strop::test::TestFolder folder_;
  std::string in(const std::string& name) const { return (folder_.path() / name).string(); }
  std::string temporary() const { return in("tmp/strop-" + std::to_string(getuid())); }
  void SetUp() override { fs::create_directory(in("tmp")); }

  Variable cache_{"STROP_CACHE", std::nullopt};
  Variable xdg_{"XDG_CACHE_HOME", in("xdg")};
  Variable home_{"HOME", in("home")};
  Variable tmp_{"TMPDIR", in("tmp")};
};

TEST_F(PlaceTest, an_explicit_path_is_first) {
  const Variable setting("STROP_CACHE", in("setting"));
  const auto place = find_place(in("mine.db"), true);
  EXPECT_EQ(place.path, in("mine.db"));
  EXPECT_EQ(place.rule, "option");
  EXPECT_FALSE(fs::exists(in("setting")));
}

TEST_F(PlaceTest, the_setting_names_a_file_or_a_folder) {
  {
    const Variable setting("STROP_CACHE", in("a.db"));
    EXPECT_EQ(find_place("", true).path, in("a.db"));
  }
  const Variable setting("STROP_CACHE", in("folder"));
  const auto place = find_place("", true);
  EXPECT_EQ(place.path, in("folder/strop.db"));
  EXPECT_EQ(place.rule, "setting STROP_CACHE");
  EXPECT_EQ(fs::status(in("folder")).permissions(), fs::perms::owner_all);
  EXPECT_TRUE(fs::exists(in("folder/CACHEDIR.TAG")));
}

TEST_F(PlaceTest, memory_is_a_place) {
  const Variable setting("STROP_CACHE", ":memory:");
  EXPECT_EQ(find_place("", true).path, "");
  EXPECT_EQ(find_place(":memory:", true).path, "");
}

TEST_F(PlaceTest, a_folder_that_was_there_is_not_declared_a_cache) {
  write_file(in("tmp/thesis.txt"), "precious");
  find_place(in("tmp"), true);
  EXPECT_FALSE(fs::exists(in("tmp/CACHEDIR.TAG")));
}

TEST_F(PlaceTest, then_xdg_then_home_then_the_temporary_directory) {
  EXPECT_EQ(find_place("", true).path, in("xdg/strop/strop.db"));
  EXPECT_TRUE(fs::exists(in("xdg/strop/CACHEDIR.TAG")));
  {
    const Variable none("XDG_CACHE_HOME", std::nullopt);
    EXPECT_EQ(find_place("", true).path, in("home/.cache/strop/strop.db"));
  }
  write_file(in("file"), "");
  const Variable xdg("XDG_CACHE_HOME", in("file"));
  const Variable home("HOME", in("file"));
  const auto place = find_place("", true);
  EXPECT_EQ(place.path, temporary() + "/strop.db");
  EXPECT_EQ(fs::status(temporary()).permissions(), fs::perms::owner_all);
  EXPECT_NE(place.note.find("file/strop can't be created"), std::string::npos) << place.note;
}

TEST_F(PlaceTest, a_relative_xdg_folder_is_passed_over) {
  const Variable xdg("XDG_CACHE_HOME", "relative");
  EXPECT_EQ(find_place("", true).path, in("home/.cache/strop/strop.db"));
}

TEST_F(PlaceTest, a_temporary_folder_open_to_others_is_refused) {
  write_file(in("file"), "");
  const Variable xdg("XDG_CACHE_HOME", in("file"));
  const Variable home("HOME", in("file"));
  fs::create_directory(temporary());
  fs::permissions(temporary(), fs::perms::all);
  const auto place = find_place("", true);
  EXPECT_EQ(place.path, "");
  EXPECT_EQ(place.rule, "memory");
  EXPECT_NE(place.note.find("by others"), std::string::npos) << place.note;
}

TEST_F(PlaceTest, a_temporary_folder_that_is_a_link_is_refused) {
  write_file(in("file"), "");
  const Variable xdg("XDG_CACHE_HOME", in("file"));
  const Variable home("HOME", in("file"));
  fs::create_directory(in("theirs"));
  fs::permissions(in("theirs"), fs::perms::owner_all);
  fs::create_directory_symlink(in("theirs"), temporary());
  EXPECT_EQ(find_place("", true).path, "");
}

TEST_F(PlaceTest, a_temporary_folder_of_another_user_is_refused) {
  write_file(in("file"), "");
  const Variable xdg("XDG_CACHE_HOME", in("file"));
  const Variable home("HOME", in("file"));
  fs::create_directory(temporary());
  fs::permissions(temporary(), fs::perms::owner_all);
  if (::chown(temporary().c_str(), 65534, 65534) != 0) GTEST_SKIP() << "this user can't give a folder away";
  const auto place = find_place("", true);
  EXPECT_EQ(place.path, "");
  EXPECT_NE(place.note.find("belongs to another user"), std::string::npos) << place.note;
}

TEST_F(PlaceTest, a_home_that_can_not_be_written_is_passed_over_also_by_those_who_look) {
  fs::permissions(folder_.path(), fs::perms::owner_all | fs::perms::others_read | fs::perms::others_exec);
  fs::create_directories(in("home"));
  fs::permissions(in("home"), fs::perms::owner_read | fs::perms::owner_exec | fs::perms::others_read | fs::perms::others_exec);
  fs::permissions(in("tmp"), fs::perms::all);
  const Variable xdg("XDG_CACHE_HOME", std::nullopt);
  const int code = run_as_nobody([&] {
    EXPECT_EQ(find_place("", false).path, temporary() + "/strop.db");
    EXPECT_FALSE(fs::exists(temporary()));
    const auto place = find_place("", true);
    EXPECT_EQ(place.path, temporary() + "/strop.db");
    EXPECT_NE(place.note.find("home/.cache/strop"), std::string::npos) << place.note;
    return ::testing::Test::HasFailure() ? 1 : 0;
  });
  if (code == kNotPossible) GTEST_SKIP() << "this user can't become another one for whom permissions count";
  EXPECT_EQ(code, 0);
}

TEST_F(PlaceTest, looking_for_the_place_makes_nothing) {
  EXPECT_EQ(find_place("", false).path, in("xdg/strop/strop.db"));
  EXPECT_EQ(find_place(in("other"), false).path, in("other/strop.db"));
  EXPECT_FALSE(fs::exists(in("xdg")));
  EXPECT_FALSE(fs::exists(in("other")));
}

TEST_F(PlaceTest, this_folder_is_on_no_network) { EXPECT_FALSE(find_place(in("a.db"), false).network); }

}  // namespace
}  // namespace strop::cache::test
