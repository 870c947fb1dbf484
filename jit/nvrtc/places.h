#pragma once

// Where NVRTC may be, in the order in which it is looked for. Touches the file system only; opens nothing.

#include <string>
#include <vector>

namespace strop::jit {

struct Place {
  std::string library;  // absolute path, or a bare soname for the loader's own search
  std::string rule;     // "STROP_NVRTC", "Python wheel in ...", "loader", "CUDA_PATH"
  bool already_loaded_only = false;
};

// `explicit_place` (file or folder) stands alone when given, under the name of `explicit_rule`.
std::vector<Place> nvrtc_places(const std::string& explicit_place, const std::string& explicit_rule);
// Folders of the places, for a builtins library that is not beside its NVRTC.
std::vector<std::string> nvrtc_folders(const std::vector<Place>& places);

}  // namespace strop::jit
