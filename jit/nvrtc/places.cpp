#include "jit/nvrtc/places.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "src/base/format.h"
#include "src/base/settings.h"

namespace strop::jit {
namespace {

namespace fs = std::filesystem;

constexpr std::array<const char*, 2> kSonames{"libnvrtc.so.13", "libnvrtc.so.12"};

std::string library_in(const fs::path& folder) {
  std::error_code ignored;
  for (const char* name : {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"})
    if (fs::exists(folder / name, ignored)) return (folder / name).string();
  return {};
}

void add_folder(std::vector<Place>& places, const fs::path& folder, const std::string& rule) {
  if (auto library = library_in(folder); !library.empty()) places.push_back({std::move(library), rule, false});
}

// "python3.12" before "python3.9": the newest first.
std::vector<fs::path> pythons_in(const fs::path& folder) {
  constexpr std::string_view kPrefix = "python";
  std::vector<std::string> versions;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    if (const auto name = at->path().filename().string(); name.starts_with(kPrefix))
      versions.push_back(name.substr(kPrefix.size()));
  std::sort(versions.begin(), versions.end(), [](const auto& a, const auto& b) { return compare_versions(a, b) > 0; });
  std::vector<fs::path> folders;
  folders.reserve(versions.size());
  for (const auto& version : versions) folders.push_back(folder / (std::string(kPrefix) + version));
  return folders;
}

std::vector<fs::path> python_prefixes() {
  std::vector<fs::path> prefixes;
  for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"})
    if (auto prefix = settings::foreign(variable)) prefixes.emplace_back(*prefix);
  if (auto home = settings::foreign("HOME")) prefixes.push_back(fs::path(*home) / ".local");
  prefixes.emplace_back("/usr/local");
  prefixes.emplace_back("/usr");
  return prefixes;
}

void add_wheels(std::vector<Place>& places) {
  for (const auto& prefix : python_prefixes())
    for (const auto& python : pythons_in(prefix / "lib"))
      for (const char* packages : {"site-packages", "dist-packages"})
        for (const char* wheel : {"nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib"})
          add_folder(places, python / packages / wheel,
                     fmt::format("Python wheel in {}", (python / packages).string()));
}

void add_toolkits(std::vector<Place>& places) {
  const auto add = [&](const fs::path& root, const std::string& rule) {
    for (const char* below : {"lib64", "lib", "targets/x86_64-linux/lib"}) add_folder(places, root / below, rule);
  };
  for (const char* variable : {"CUDA_PATH", "CUDA_HOME"})
    if (auto root = settings::foreign(variable)) add(*root, variable);
  add("/usr/local/cuda", "/usr/local/cuda");
#ifdef STROP_NVRTC_FALLBACK  // where tools/setup.sh put NVIDIA's wheels on the machine that built this
  add_folder(places, STROP_NVRTC_FALLBACK, "the build's own");
#endif
}

// The library in a folder or in a toolkit's root; what was named, as it is, when it is no folder.
std::string explicit_library(const std::string& place) {
  std::error_code ignored;
  if (fs::is_directory(place, ignored)) {
    for (const char* below : {"", "lib64", "lib"})
      if (auto library = library_in(fs::path(place) / below); !library.empty()) return library;
    return (fs::path(place) / kSonames.front()).string();
  }
  // The loader takes a name without a slash for one of its own.
  const bool here = place.find('/') == std::string::npos && fs::exists(place, ignored);
  return here ? "./" + place : place;
}

}  // namespace

std::vector<Place> nvrtc_places(const std::string& explicit_place, const std::string& explicit_rule) {
  std::vector<Place> places;
  if (!explicit_place.empty()) {
    places.push_back({explicit_library(explicit_place), explicit_rule, false});
    return places;
  }
  for (const char* soname : kSonames) places.push_back({soname, "already in the process", true});
  add_wheels(places);
  if (auto conda = settings::foreign("CONDA_PREFIX")) add_folder(places, fs::path(*conda) / "lib", "conda");
  for (const char* soname : kSonames) places.push_back({soname, "loader", false});
  add_toolkits(places);
  return places;
}

std::vector<std::string> nvrtc_folders(const std::vector<Place>& places) {
  std::vector<std::string> folders;
  for (const auto& place : places)
    if (place.library.find('/') != std::string::npos) folders.push_back(fs::path(place.library).parent_path().string());
  return folders;
}

}  // namespace strop::jit
