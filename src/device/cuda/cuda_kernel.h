#pragma once

// A loaded module and its one entry point. Keeps the context retained, so that destroying it after its device does no
// harm.

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "src/device/cuda/handles.h"
#include "src/device/device.h"

namespace strop::device::cuda {

class CudaKernel final : public LoadedKernel {
 public:
  // Loads eagerly: a lazy load could fall into a stream capture or a held stream. The context must be current.
  CudaKernel(std::shared_ptr<const PrimaryContext> context, std::string_view binary, std::string_view entry,
             unsigned dynamic_shared);
  ~CudaKernel() override;
  CudaKernel(const CudaKernel&) = delete;
  CudaKernel& operator=(const CudaKernel&) = delete;

  CUfunction function() const { return function_; }
  CUcontext context() const { return context_->get(); }
  // Of its parameter; the driver would read past a shorter argument. 0: the driver can't tell.
  std::size_t argument_bytes() const { return argument_bytes_; }

 private:
  void allow_dynamic_shared(unsigned bytes);

  std::shared_ptr<const PrimaryContext> context_;
  Module module_;
  CUfunction function_ = nullptr;
  std::size_t argument_bytes_ = 0;
};

}  // namespace strop::device::cuda
