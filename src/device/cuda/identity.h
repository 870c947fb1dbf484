#pragma once

// Which driver is it, in full ("580.159.03")? cuDriverGetVersion names the API level only and stays the same between
// patches. Under forward compatibility (cuda-compat) the library and the kernel module differ: both are told.

#include <optional>
#include <string>
#include <string_view>

namespace strop::device::cuda {

struct DriverVersions {
  std::string kernel_mode;  // NVML, /proc/driver/nvidia/version, the library's file name; "unknown"
  std::string user_mode;    // the library's file name; else the same as kernel_mode
};

DriverVersions driver_versions(std::string_view libcuda_path);

// From the text of /proc/driver/nvidia/version.
std::optional<std::string> version_in_proc(std::string_view text);
// "/usr/lib/libcuda.so.580.159.03" -> "580.159.03".
std::optional<std::string> version_in_path(std::string_view path);

}  // namespace strop::device::cuda
