#include "src/device/cuda/loader.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "src/base/settings.h"

namespace strop::device::cuda {
namespace {

constexpr const char* kSoname = "libcuda.so.1";
// Where container runtimes and WSL put the driver without telling the loader.
constexpr std::array<const char*, 3> kKnownFolders{"/usr/lib/wsl/lib", "/usr/local/nvidia/lib64",
                                                   "/run/opengl-driver/lib"};

// Ends the opening with a status; caught in this file only.
struct Refusal {
  CudaStatus status;
  std::string reason;
};

struct Library {
  void* handle = nullptr;
  std::string path;
  std::string rule;
};

std::string real_path(void* handle) {
  link_map* map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr) return {};
  std::error_code ignored;
  const auto path = std::filesystem::canonical(map->l_name, ignored);
  return ignored ? std::string(map->l_name) : path.string();
}

Library open_chosen(const std::string& chosen) {
  std::error_code ignored;
  const std::string file =
      std::filesystem::is_directory(chosen, ignored) ? (std::filesystem::path(chosen) / kSoname).string() : chosen;
  if (void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL))
    return {handle, real_path(handle), "setting STROP_LIBCUDA"};
  throw Refusal{CudaStatus::no_library,
                fmt::format("the CUDA driver library named by STROP_LIBCUDA can't be opened ({}); correct or unset it",
                            dlerror())};
}

Library open_found() {
  if (void* handle = dlopen(kSoname, RTLD_NOW | RTLD_LOCAL))
    return {handle, real_path(handle), "loader search for libcuda.so.1"};
  const std::string first_error = dlerror();
  for (const char* folder : kKnownFolders) {
    const std::string file = fmt::format("{}/{}", folder, kSoname);
    if (void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) {
      return {handle, real_path(handle), fmt::format("known folder {}", folder)};
    }
  }
  throw Refusal{
      CudaStatus::no_library,
      fmt::format(
          "the CUDA driver library is not installed ({}); install NVIDIA's driver, start the container with GPU "
          "support, or set STROP_LIBCUDA",
          first_error)};
}

template <class Function>
Function symbol(const Library& library, const char* name) {
  return reinterpret_cast<Function>(dlsym(library.handle, name));
}

Refusal too_old(const Library& library, int have, const std::string& lacks) {
  return {
      CudaStatus::too_old,
      fmt::format(
          "the CUDA driver {} knows CUDA {} ({}), but strop needs {} or newer; upgrade NVIDIA's driver to 525 or newer",
          library.path, api_text(have), lacks, api_text(kOldestDriverApi))};
}

// Fetches functions, and tells a driver that is too old from a library that is something else.
class Resolver {
 public:
  explicit Resolver(const Library& library) : library_(library) {
    if (auto version = symbol<PFN_cuDriverGetVersion_v2020>(library, "cuDriverGetVersion")) version(&have_);
    get_ = symbol<PFN_cuGetProcAddress_v12000>(library, "cuGetProcAddress_v2");
    if (get_ != nullptr) return;
    if (symbol<void*>(library, "cuInit") != nullptr) throw too_old(library, have_, "it lacks cuGetProcAddress_v2");
    throw Refusal{CudaStatus::failed,
                  fmt::format("{} is not a CUDA driver library (no cuInit in it); point STROP_LIBCUDA to "
                              "libcuda.so.1, or unset it",
                              library.path)};
  }

  template <class Function>
  void required(Function& to, const char* name, int version) const {
    const auto [result, status] = fetch(to, name, version);
    if (to != nullptr) return;
    if (status == CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT) {
      throw too_old(library_, have_, fmt::format("its {} is older than CUDA {}'s", name, api_text(version)));
    }
    if (have_ < kOldestDriverApi) throw too_old(library_, have_, fmt::format("it lacks {}", name));
    throw Refusal{
        CudaStatus::failed,
        fmt::format(
            "the CUDA driver {} says CUDA {} but lacks {} (cuGetProcAddress answered {}); reinstall NVIDIA's driver",
            library_.path, api_text(have_), name, static_cast<int>(result))};
  }

  template <class Function>
  void optional(Function& to, const char* name, int version) const {
    fetch(to, name, version);
  }

  int have() const { return have_; }

 private:
  template <class Function>
  std::pair<CUresult, CUdriverProcAddressQueryResult> fetch(Function& to, const char* name, int version) const {
    void* address = nullptr;
    auto status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    const CUresult result = get_(name, &address, version, CU_GET_PROC_ADDRESS_DEFAULT, &status);
    to =
        result == CUDA_SUCCESS && status == CU_GET_PROC_ADDRESS_SUCCESS ? reinterpret_cast<Function>(address) : nullptr;
    return {result, status};
  }

  const Library& library_;
  PFN_cuGetProcAddress_v12000 get_ = nullptr;
  int have_ = 0;
};

std::string visible_devices_text() {
  const auto visible = settings::foreign("CUDA_VISIBLE_DEVICES");
  return visible ? fmt::format(" (CUDA_VISIBLE_DEVICES is '{}')", *visible) : std::string();
}

std::string remedy_of_init(CUresult result) {
  switch (result) {
    case CUDA_ERROR_NOT_INITIALIZED:
      return "this process was probably forked from one that had used CUDA; start workers with spawn, or fork before "
             "the first use";
    case CUDA_ERROR_SYSTEM_NOT_READY:
      return "start nvidia-fabricmanager (or wait for it)";
    case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
      return "library and kernel module are of different versions: reboot, or reload the nvidia modules";
    case CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE:
      return "this GPU does not take the forward-compatible libcuda (cuda-compat): take its folder out of "
             "LD_LIBRARY_PATH";
    case CUDA_ERROR_OUT_OF_MEMORY:
      return "the machine or its cgroup has no memory left";
    default:
      return "see nvidia-smi and the kernel's log; in a container, check that /dev/nvidia* and /dev/nvidia-uvm are "
             "there";
  }
}

[[noreturn]] void refuse_init(const Library& library, const Driver& driver, CUresult result) {
  if (result == CUDA_ERROR_STUB_LIBRARY) {
    throw Refusal{CudaStatus::stub,
                  fmt::format("{} is the CUDA toolkit's stub, made for linking only, not a driver; take its folder "
                              "out of LD_LIBRARY_PATH or STROP_LIBCUDA, and install NVIDIA's driver",
                              library.path)};
  }
  if (result == CUDA_ERROR_NO_DEVICE) {
    throw Refusal{CudaStatus::no_device,
                  fmt::format("the CUDA driver {} sees no GPU{}; see nvidia-smi, and start the container with "
                              "GPU support",
                              library.path, visible_devices_text())};
  }
  const char* name = nullptr;
  driver.cuGetErrorName(result, &name);
  throw Refusal{CudaStatus::failed,
                fmt::format("the CUDA driver {} can't be initialised: cuInit answered {} ({}); {}", library.path,
                            static_cast<int>(result), name != nullptr ? name : "unknown", remedy_of_init(result))};
}

void fill(Opened& opened, const Library& library) {
  const Resolver resolver(library);
  opened.probe.driver_api = resolver.have();
#define STROP_CUDA_FETCH(name, version) resolver.required(opened.driver.name, #name, version);
  STROP_CUDA_REQUIRED(STROP_CUDA_FETCH)
#undef STROP_CUDA_FETCH
#define STROP_CUDA_FETCH(name, version) resolver.optional(opened.driver.name, #name, version);
  STROP_CUDA_OPTIONAL(STROP_CUDA_FETCH)
#undef STROP_CUDA_FETCH
}

void initialise(Opened& opened, const Library& library) {
  // A stub answers every call with 34, cuGetProcAddress too: its cuInit is asked first, by name.
  if (auto init = symbol<PFN_cuInit_v2000>(library, "cuInit"); init != nullptr) {
    if (const CUresult result = init(0); result == CUDA_ERROR_STUB_LIBRARY) refuse_init(library, opened.driver, result);
  }
  fill(opened, library);
  const Driver& driver = opened.driver;
  if (const CUresult result = driver.cuInit(0); result != CUDA_SUCCESS) refuse_init(library, driver, result);
  if (opened.probe.driver_api < kOldestDriverApi) throw too_old(library, opened.probe.driver_api, "by its own word");
  int devices = 0;
  if (const CUresult result = driver.cuDeviceGetCount(&devices); result != CUDA_SUCCESS)
    refuse_init(library, driver, result);
  if (devices == 0) refuse_init(library, driver, CUDA_ERROR_NO_DEVICE);
  opened.probe.devices = devices;
}

}  // namespace

std::string api_text(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

Opened open_driver(const std::optional<std::string>& library_setting) {
  Opened opened;
  try {
    const Library library = library_setting ? open_chosen(*library_setting) : open_found();
    opened.probe.library = library.path;
    opened.probe.rule = library.rule;
    initialise(opened, library);
    opened.probe.status = CudaStatus::ok;
    opened.probe.reason =
        fmt::format("CUDA driver {} ({}), CUDA {}, {} device{}", library.path, library.rule,
                    api_text(opened.probe.driver_api), opened.probe.devices, opened.probe.devices == 1 ? "" : "s");
  } catch (const Refusal& refusal) {
    opened.probe.status = refusal.status;
    opened.probe.reason = refusal.reason;
  }
  return opened;
}

}  // namespace strop::device::cuda
