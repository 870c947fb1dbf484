// The plan of the house, held by tests: folders alone do not hold arrows. See ARCHITECTURE.md.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <set>
#include <string>

#include "tests/structure/source_tree.h"

namespace strop::structure {
namespace {

using Rooms = std::set<std::string>;

// Which rooms a room may include, besides itself and the public headers: what ARCHITECTURE.md says.
const std::map<std::string, Rooms>& allowed() {
  static const auto arrows = arrows_of(text_of("ARCHITECTURE.md"));
  return arrows;
}

// The room that a quoted include names, or "" for one outside our rooms.
std::string target_of(const std::string& include) {
  static const std::map<std::string, std::string> roots{
      {"strop/", "include"},       {"src/base/", "base"}, {"src/device/", "device"},
      {"src/engine/", "engine"},   {"src/ops/", "ops"},   {"jit/", "jit"},
      {"tuner/", "tuner"},         {"cache/", "cache"},   {"tools/", "tools"},
      {"templates/", "templates"}, {"tests/", "tests"},
  };
  for (const auto& [prefix, room] : roots) {
    if (include.starts_with(prefix)) return room;
  }
  return "";
}

std::string at(const SourceFile& file, int line) { return fmt::format("{}:{}", file.path, line); }

TEST(Structure, the_source_tree_is_found) {
  EXPECT_GT(sources().size(), 30u);
  EXPECT_EQ(room_of("src/base/log.cpp"), "base");
  EXPECT_EQ(room_of("cache/store.h"), "cache");
}

TEST(Structure, the_arrows_are_read_from_the_plan_and_keep_jit_tuner_and_cache_apart) {
  EXPECT_EQ(allowed().size(), 11u);
  for (const char* room : {"jit", "tuner", "cache"}) EXPECT_EQ(allowed().at(room), Rooms{"base"});
  EXPECT_TRUE(allowed().at("base").empty());
  EXPECT_FALSE(allowed().at("ops").contains("device"));
}

TEST(Structure, includes_follow_the_arrows) {
  for (const auto& file : sources()) {
    const auto room = room_of(file.path);
    const auto arrows = allowed().find(room);
    if (arrows == allowed().end()) continue;  // tests see everything
    for (const auto& include : includes_of(file)) {
      const auto target = include.quoted ? target_of(include.path) : "";
      if (target.empty() || target == room || (target == "include" && room != "templates")) continue;
      EXPECT_TRUE(arrows->second.contains(target))
          << at(file, include.line) << ": " << room << " must not see " << target;
    }
  }
}

TEST(Structure, quoted_includes_are_written_from_the_root) {
  for (const auto& file : sources()) {
    const auto room = room_of(file.path);
    if (room == "templates" || room == "examples" || file.path.starts_with("tests/package/") ||
        file.path.ends_with(".cuh"))
      continue;
    for (const auto& include : includes_of(file)) {
      EXPECT_TRUE(!include.quoted || !target_of(include.path).empty())
          << at(file, include.line) << ": " << include.path;
    }
  }
}

TEST(Structure, the_device_sees_one_header_of_the_templates) {
  for (const auto& file : sources()) {
    if (room_of(file.path) != "device") continue;
    for (const auto& include : includes_of(file)) {
      EXPECT_TRUE(target_of(include.path) != "templates" || include.path == "templates/common/host/abi.h")
          << at(file, include.line) << ": " << include.path;
    }
  }
}

TEST(Structure, the_two_devices_do_not_see_each_other) {
  for (const auto& file : sources()) {
    for (const auto& include : includes_of(file)) {
      const bool crosses =
          (file.path.starts_with("src/device/cuda/") && include.path.starts_with("src/device/host/")) ||
          (file.path.starts_with("src/device/host/") && include.path.starts_with("src/device/cuda/"));
      EXPECT_FALSE(crosses) << at(file, include.line);
    }
  }
}

TEST(Structure, public_headers_show_no_third_party_header) {
  for (const auto& file : sources()) {
    if (room_of(file.path) != "include") continue;
    for (const auto& include : includes_of(file)) {
      const bool standard = !include.quoted && include.path.find_first_of("/.") == std::string::npos;
      EXPECT_TRUE(standard || include.path.starts_with("strop/")) << at(file, include.line) << ": " << include.path;
    }
  }
}

TEST(Structure, one_header_each_includes_cuda_nvrtc_and_sqlite) {
  const std::map<std::string, std::string> where{{"cuda.h", "src/device/cuda/"},
                                                 {"cudaTypedefs.h", "src/device/cuda/"},
                                                 {"nvrtc.h", "jit/nvrtc/"},
                                                 {"sqlite3.h", "cache/"}};
  std::map<std::string, Rooms> includers;
  for (const auto& file : sources()) {
    if (room_of(file.path) == "tests") continue;
    for (const auto& include : includes_of(file)) {
      const auto place = where.find(include.path);
      if (place == where.end()) continue;
      includers[include.path].insert(file.path);
      EXPECT_TRUE(file.path.starts_with(place->second)) << at(file, include.line) << " includes " << include.path;
    }
  }
  for (const auto& [header, files] : includers)
    EXPECT_EQ(files.size(), 1u) << header << " in " << fmt::format("{}", fmt::join(files, ", "));
}

TEST(Structure, only_the_settings_read_the_environment) {
  const std::regex reads(R"(\b(secure_)?getenv\s*\()");
  for (const auto& file : sources()) {
    if (file.path == "src/base/settings.cpp" || room_of(file.path) == "tests") continue;
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      EXPECT_FALSE(std::regex_search(file.lines[i], reads))
          << at(file, static_cast<int>(i) + 1) << ": " << file.lines[i];
    }
  }
}

TEST(Structure, no_file_is_longer_than_500_lines) {
  for (const auto& file : sources()) EXPECT_LE(file.lines.size(), 500u) << file.path;
}

TEST(Structure, no_function_is_longer_than_60_lines_without_a_reason) {
  int functions = 0;
  for (const auto& file : sources()) {
    for (const auto& function : functions_of(file)) {
      ++functions;
      EXPECT_TRUE(function.length <= 60 || function.excused)
          << at(file, function.line) << ": " << function.length
          << " lines, and no comment above that begins 'Long because'\n  " << function.head;
    }
  }
  EXPECT_GT(functions, 50);
}

TEST(Structure, the_measure_of_functions_sees_long_ones) {
  SourceFile file{"made_up.cpp",
                  {"namespace strop {", "", "// What it does.", "int long_one(int a,", "             int b) {"}};
  for (int i = 0; i < 70; ++i) file.lines.emplace_back("  work();");
  file.lines.insert(file.lines.end(), {"}", "", "}  // namespace strop"});
  auto functions = functions_of(file);
  ASSERT_EQ(functions.size(), 1u);
  EXPECT_EQ(functions[0].length, 73);
  EXPECT_FALSE(functions[0].excused);
  file.lines[2] = "// Long because it is one table.";
  EXPECT_TRUE(functions_of(file)[0].excused);
}

TEST(Structure, headers_open_with_a_paragraph) {
  for (const auto& file : sources()) {
    if (!file.path.ends_with(".h") || room_of(file.path) == "tests") continue;
    ASSERT_GE(file.lines.size(), 3u) << file.path;
    EXPECT_EQ(file.lines[0], "#pragma once") << file.path;
    EXPECT_TRUE(file.lines[2].starts_with("//")) << file.path;
  }
}

}  // namespace
}  // namespace strop::structure
