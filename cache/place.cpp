// Where the database is.

#include <fcntl.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "cache/file_system.h"
#include "cache/store.h"
#include "src/base/settings.h"

namespace strop::cache {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFile = "strop.db";

struct Option {
  fs::path folder;
  std::string rule;
  bool must_be_ours = false;  // in a place that others can write: refuse a folder that is not this user's alone
};

std::string home_of_user() {
  std::array<char, 4096> buffer{};
  passwd entry{};
  passwd* found = nullptr;
  if (getpwuid_r(getuid(), &entry, buffer.data(), buffer.size(), &found) != 0 || found == nullptr || found->pw_dir == nullptr) return {};
  return found->pw_dir;
}

std::vector<Option> options() {
  std::vector<Option> found;
  if (auto xdg = settings::foreign("XDG_CACHE_HOME"); xdg && xdg->starts_with('/')) found.push_back({fs::path(*xdg) / "strop", "$XDG_CACHE_HOME/strop", false});
  if (auto home = settings::foreign("HOME"); home && home->starts_with('/')) found.push_back({fs::path(*home) / ".cache/strop", "$HOME/.cache/strop", false});
  else if (auto user = home_of_user(); user.starts_with('/')) found.push_back({fs::path(user) / ".cache/strop", "the user's home", false});
  const auto temporary = settings::foreign("TMPDIR").value_or("/tmp");
  found.push_back({fs::path(temporary) / fmt::format("strop-{}", getuid()), "the temporary directory", true});
  return found;
}

void write_tag(const fs::path& folder) {
  const auto tag = folder / "CACHEDIR.TAG";
  std::error_code ignored;
  if (fs::exists(tag, ignored)) return;
  std::ofstream(tag) << "Signature: 8a477f597d28d172789f06886806bc55\n# This folder is a cache of strop; it can be removed at any time.\n";
}

// Why a folder in a place that others can write may not be used; empty: it may.
std::string stranger(const fs::path& folder) {
  struct stat facts {};
  if (::lstat(folder.c_str(), &facts) != 0 || !S_ISDIR(facts.st_mode)) return "is not a folder";
  if (facts.st_uid != getuid()) return "belongs to another user";
  if ((facts.st_mode & 077) != 0) return "can be read or written by others";
  return {};
}

// Why the folder, which is there, can't be used; empty: it can.
std::string check(const Option& option) {
  if (option.must_be_ours)
    if (auto why = stranger(option.folder); !why.empty()) return why;
  std::error_code failed;
  if (!fs::is_directory(option.folder, failed)) return "is not a folder";
  if (::access(option.folder.c_str(), W_OK | X_OK) != 0 && ::access((option.folder / kFile).c_str(), R_OK) != 0) return "can't be written";
  return {};
}

bool is_there(const fs::path& path) {
  struct stat facts {};
  return ::lstat(path.c_str(), &facts) == 0;
}

// Makes the folder and says why it can't be used; empty: it can. A folder that was there and is the user's choice gets no tag: that
// would tell backups to pass over whatever else is in it.
std::string prepare(const Option& option, bool tag_existing) {
  const bool existed = is_there(option.folder);
  if (!existed) {
    std::error_code failed;
    fs::create_directories(option.folder.parent_path(), failed);
    if (::mkdir(option.folder.c_str(), 0700) != 0 && !fs::is_directory(option.folder, failed)) return "can't be created";
  }
  auto why = check(option);
  if (why.empty() && (tag_existing || !existed)) write_tag(option.folder);
  return why;
}

// What `prepare` would say, as far as that can be known without making anything.
std::string foresee(const Option& option) {
  if (is_there(option.folder)) return check(option);
  auto at = option.folder.parent_path();
  while (!is_there(at) && at.has_relative_path()) at = at.parent_path();
  std::error_code failed;
  return fs::is_directory(at, failed) && ::access(at.c_str(), W_OK | X_OK) == 0 ? "" : "can't be created";
}

Place explicit_one(const std::string& path, const std::string& rule, bool create) {
  if (path == ":memory:") return {{}, rule, {}, false};
  std::error_code failed;
  const bool is_file = fs::path(path).extension() == ".db" || fs::is_regular_file(path, failed);
  const fs::path file = is_file ? fs::path(path) : fs::path(path) / kFile;
  if (create && !is_file) prepare({file.parent_path(), rule, false}, false);  // what is wrong with it shows at opening, with a better message
  return {file.string(), rule, {}, on_network_file_system(file.string())};
}

}  // namespace

Place find_place(const std::string& explicit_path, bool create) {
  if (!explicit_path.empty()) return explicit_one(explicit_path, "option", create);
  if (const auto setting = settings::text("cache")) return explicit_one(*setting, "setting STROP_CACHE", create);
  std::string passed_over;
  for (const auto& option : options()) {
    const auto file = (option.folder / kFile).string();
    const auto why = create ? prepare(option, true) : foresee(option);
    if (why.empty()) return {file, option.rule, passed_over, on_network_file_system(file)};
    passed_over += fmt::format("{}{} {}", passed_over.empty() ? "" : "; ", option.folder.string(), why);
  }
  return {{}, "memory", fmt::format("no place for the cache ({}): nothing is remembered past this process; set STROP_CACHE", passed_over), false};
}

}  // namespace strop::cache
