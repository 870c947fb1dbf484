#include "jit/nvrtc/nvrtc_library.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <link.h>

#include <algorithm>
#include <filesystem>

#include "jit/nvrtc/elf.h"
#include "jit/nvrtc/places.h"
#include "src/base/digest.h"
#include "strop/error.h"

namespace strop::jit {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kRemedy =
    "install NVRTC (the CUDA toolkit, or `pip install nvidia-cuda-nvrtc`) or name its file or folder in STROP_NVRTC";

CompileError error(const std::string& what) { return {what, "", "", "", "nvrtc"}; }

std::string loader_error() {
  const char* text = dlerror();
  return text == nullptr ? "unknown loader error" : text;
}

template <class Function>
bool symbol(void* handle, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(handle, name));
  return function != nullptr;
}

bool bind(void* handle, NvrtcLibrary& library) {
  symbol(handle, "nvrtcSetFlowCallback", library.set_flow_callback);
  return symbol(handle, "nvrtcVersion", library.version) &&
         symbol(handle, "nvrtcGetNumSupportedArchs", library.num_supported_archs) &&
         symbol(handle, "nvrtcGetSupportedArchs", library.supported_archs) &&
         symbol(handle, "nvrtcCreateProgram", library.create_program) &&
         symbol(handle, "nvrtcDestroyProgram", library.destroy_program) &&
         symbol(handle, "nvrtcCompileProgram", library.compile_program) &&
         symbol(handle, "nvrtcGetCUBINSize", library.cubin_size) && symbol(handle, "nvrtcGetCUBIN", library.cubin) &&
         symbol(handle, "nvrtcGetProgramLogSize", library.log_size) &&
         symbol(handle, "nvrtcGetProgramLog", library.log) &&
         symbol(handle, "nvrtcGetErrorString", library.error_string);
}

std::string real_path_of(const void* address, const std::string& fallback) {
  Dl_info info{};
  if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) return fallback;
  std::error_code failed;
  const auto path = fs::canonical(info.dli_fname, failed);
  return failed ? std::string(info.dli_fname) : path.string();
}

std::string path_of_handle(void* handle, const std::string& fallback) {
  link_map* map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr || map->l_name == nullptr) return fallback;
  std::error_code failed;
  const auto path = fs::canonical(map->l_name, failed);
  return failed ? fallback : path.string();
}

// NVRTC opens its builtins by soname at the first compile. Opened here first by absolute path, so that it is the
// sibling's and not another folder's, and so that its absence is told now and not by a bare status. Returns the path of
// the one that the soname now means: another, when the application had loaded one before us.
std::string preload_builtins(const NvrtcLibrary& library, const std::string& path, const std::vector<Place>& places) {
  const std::string soname = fmt::format("libnvrtc-builtins.so.{}.{}", library.major, library.minor);
  std::vector<std::string> folders{fs::path(path).parent_path().string()};
  for (auto& folder : nvrtc_folders(places)) folders.push_back(std::move(folder));
  for (const auto& folder : folders)
    if (dlopen(fmt::format("{}/{}", folder, soname).c_str(), RTLD_NOW | RTLD_LOCAL) != nullptr) break;
  if (void* handle = dlopen(soname.c_str(), RTLD_NOW | RTLD_LOCAL); handle != nullptr)
    return path_of_handle(handle, soname);
  throw error(
      fmt::format("NVRTC {}.{} at {} has no {} beside it nor where the loader looks ({}): every compile would fail; {}",
                  library.major, library.minor, path, soname, loader_error(), kRemedy));
}

void describe(NvrtcLibrary& library, const Place& place, const std::vector<Place>& places) {
  library.version(&library.major, &library.minor);
  auto& compiler = library.compiler;
  compiler.name = "nvrtc";
  compiler.version = fmt::format("{}.{}", library.major, library.minor);
  compiler.path = real_path_of(reinterpret_cast<const void*>(library.version), place.library);
  compiler.rule = place.rule;
  const auto builtins = preload_builtins(library, compiler.path, places);
  // nvrtcVersion says the same for every patch release; the build ids do not.
  compiler.build_id =
      Ingredients().add("nvrtc", library_identity(compiler.path)).add("builtins", library_identity(builtins)).digest();
  int count = 0;
  library.num_supported_archs(&count);
  std::vector<int> archs(static_cast<std::size_t>(std::max(count, 0)));
  if (count > 0) library.supported_archs(archs.data());
  for (const int arch : archs) compiler.targets.push_back(fmt::format("sm_{}", arch));
}

}  // namespace

std::unique_ptr<NvrtcLibrary> open_nvrtc(const std::string& explicit_place, const std::string& explicit_rule) {
  const auto places = nvrtc_places(explicit_place, explicit_rule);
  std::vector<std::string> tried;
  for (const auto& place : places) {
    const int flags = RTLD_NOW | RTLD_LOCAL | (place.already_loaded_only ? RTLD_NOLOAD : 0);
    void* handle = dlopen(place.library.c_str(), flags);
    if (handle == nullptr) {
      if (!place.already_loaded_only)
        tried.push_back(fmt::format("{} ({}): {}", place.library, place.rule, loader_error()));
      continue;
    }
    auto library = std::make_unique<NvrtcLibrary>();
    if (!bind(handle, *library)) {
      tried.push_back(
          fmt::format("{} ({}): not an NVRTC that makes cubins (older than 11.1)", place.library, place.rule));
      continue;
    }
    try {
      describe(*library, place, places);
      return library;
    } catch (const CompileError& unusable) {
      tried.emplace_back(unusable.what());
    }
  }
  throw error(fmt::format("no NVRTC to compile with: {}; {}", fmt::join(tried, "; "), kRemedy));
}

}  // namespace strop::jit
