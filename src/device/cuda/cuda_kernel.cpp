#include "src/device/cuda/cuda_kernel.h"

#include <fmt/format.h>

#include <utility>

#include "src/base/log.h"
#include "src/device/cuda/errors.h"
#include "src/device/cuda/image.h"
#include "src/device/cuda/lost.h"
#include "strop/error.h"

namespace strop::device::cuda {
namespace {

// What a block may have without asking.
constexpr unsigned kPlainDynamicShared = 48u << 10;

[[noreturn]] void refuse_image(const std::string& why) {
  throw CudaError(CUDA_ERROR_INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE", "load",
                  fmt::format("the binary was not given to the driver: {}; compile it again", why));
}

Module load_whole(std::string_view binary) {
  if (is_elf(binary)) {
    if (const auto why = why_damaged(binary)) refuse_image(*why);
    return load_module(binary.data());
  }
  if (binary.find(".version") == std::string_view::npos) refuse_image("it is neither a cubin nor PTX");
  return load_module(std::string(binary).c_str());
}

}  // namespace

CudaKernel::CudaKernel(std::shared_ptr<const PrimaryContext> context, std::string_view binary, std::string_view entry,
                       unsigned dynamic_shared)
    : context_(std::move(context)), module_(load_whole(binary)) {
  const Driver& driver = opened();
  const std::string name(entry);
  if (const CUresult result = driver.cuModuleGetFunction(&function_, module_.get(), name.c_str());
      result != CUDA_SUCCESS) {
    throw_error(result, "cuModuleGetFunction", fmt::format("looking for '{}'", name));
  }
  if (driver.cuFuncLoad != nullptr) check(driver.cuFuncLoad(function_), "cuFuncLoad");
  allow_dynamic_shared(dynamic_shared);
  std::size_t offset = 0;
  if (driver.cuFuncGetParamInfo == nullptr ||
      driver.cuFuncGetParamInfo(function_, 0, &offset, &argument_bytes_) != CUDA_SUCCESS) {
    argument_bytes_ = 0;
  }
}

CudaKernel::~CudaKernel() {
  if (abandoned(context_->get())) {
    static_cast<void>(module_.release());
    return;
  }
  try {
    const ContextScope scope(context_->get());
    const RelaxedCapture relaxed;
    module_.reset();
  } catch (const std::exception& error) {
    static_cast<void>(module_.release());
    log::warn(fmt::format("a CUDA module could not be unloaded: {}", error.what()));
  }
}

void CudaKernel::allow_dynamic_shared(unsigned bytes) {
  const Driver& driver = opened();
  // Portable clusters have at most 8 blocks; more must be asked for. Devices without clusters refuse, and need no such
  // thing.
  static_cast<void>(driver.cuFuncSetAttribute(function_, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
  if (bytes <= kPlainDynamicShared) return;
  const CUresult result =
      driver.cuFuncSetAttribute(function_, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, static_cast<int>(bytes));
  if (result != CUDA_SUCCESS) {
    throw_error(result, "cuFuncSetAttribute", fmt::format("asking for {} bytes of dynamic shared memory", bytes));
  }
  // Left to itself the driver keeps more L1 than such a kernel's blocks leave, and fewer of them fit on a
  // multiprocessor.
  check(driver.cuFuncSetAttribute(function_, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
                                  CU_SHAREDMEM_CARVEOUT_MAX_SHARED),
        "cuFuncSetAttribute");
}

}  // namespace strop::device::cuda
