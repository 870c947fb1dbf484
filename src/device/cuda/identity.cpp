#include "src/device/cuda/identity.h"

#include <fstream>
#include <iterator>

#include "src/device/cuda/nvml.h"

namespace strop::device::cuda {
namespace {

// Digits with at least one dot between them: "580.65", "580.159.03"; not "1" (of libcuda.so.1) and not "x86_64".
bool is_version(std::string_view word) {
  return word.find_first_not_of("0123456789.") == std::string_view::npos && word.find('.') != std::string_view::npos &&
         word.front() != '.' && word.back() != '.';
}

}  // namespace

std::optional<std::string> version_in_proc(std::string_view text) {
  const auto line_at = text.find("NVRM version:");
  if (line_at == std::string_view::npos) return std::nullopt;
  std::string_view line = text.substr(line_at, text.find('\n', line_at) - line_at);
  while (!line.empty()) {
    const auto begin = line.find_first_not_of(" \t");
    if (begin == std::string_view::npos) break;
    const auto end = line.find_first_of(" \t", begin);
    const auto word = line.substr(begin, end == std::string_view::npos ? end : end - begin);
    if (is_version(word)) return std::string(word);
    line = end == std::string_view::npos ? std::string_view() : line.substr(end);
  }
  return std::nullopt;
}

std::optional<std::string> version_in_path(std::string_view path) {
  constexpr std::string_view kMark = "libcuda.so.";
  const auto at = path.rfind(kMark);
  if (at == std::string_view::npos) return std::nullopt;
  const auto suffix = path.substr(at + kMark.size());
  if (suffix.empty() || !is_version(suffix)) return std::nullopt;
  return std::string(suffix);
}

DriverVersions driver_versions(std::string_view libcuda_path) {
  auto kernel_mode = nvml_driver_version();
  if (!kernel_mode) {
    std::ifstream proc("/proc/driver/nvidia/version");
    kernel_mode = version_in_proc(std::string(std::istreambuf_iterator<char>(proc), {}));
  }
  const auto user_mode = version_in_path(libcuda_path);
  DriverVersions versions;
  versions.kernel_mode = kernel_mode.value_or(user_mode.value_or("unknown"));
  versions.user_mode = user_mode.value_or(versions.kernel_mode);
  return versions;
}

}  // namespace strop::device::cuda
