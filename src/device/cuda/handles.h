#pragma once

// Owners of driver objects: one move-only type a handle, built by its constructor or not at all. All but PrimaryContext
// and ContextScope must be made and destroyed while their context is current. Destructors log and go on, and do nothing
// in the child of a fork, where the objects are the parent's.

#include <cstddef>
#include <memory>
#include <string_view>
#include <type_traits>

#include "src/device/cuda/driver.h"

namespace strop::device::cuda {

// The device's primary context, which PyTorch and the runtime API use too: retained, never reset.
class PrimaryContext {
 public:
  explicit PrimaryContext(CUdevice device);
  ~PrimaryContext();
  PrimaryContext(const PrimaryContext&) = delete;
  PrimaryContext& operator=(const PrimaryContext&) = delete;
  CUcontext get() const { return context_; }

 private:
  CUdevice device_;
  CUcontext context_ = nullptr;
};

// Makes a context current for a scope and leaves the caller's current context as it was. Costs one query when it is
// current already. Throws for one that is lost.
class ContextScope {
 public:
  explicit ContextScope(CUcontext context);
  ~ContextScope();
  ContextScope(const ContextScope&) = delete;
  ContextScope& operator=(const ContextScope&) = delete;

 private:
  const Driver& driver_;
  bool pushed_ = false;
};

// Lets this thread allocate and load while another captures a stream in global mode; else that capture would be
// destroyed.
class RelaxedCapture {
 public:
  RelaxedCapture();
  ~RelaxedCapture();
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;

 private:
  CUstreamCaptureMode previous_ = CU_STREAM_CAPTURE_MODE_RELAXED;
};

struct UnloadModule {
  void operator()(CUmodule module) const noexcept;
};
struct DestroyStream {
  void operator()(CUstream stream) const noexcept;
};
struct DestroyEvent {
  void operator()(CUevent event) const noexcept;
};
struct FreePinned {
  void operator()(void* memory) const noexcept;
};

using Module = std::unique_ptr<std::remove_pointer_t<CUmodule>, UnloadModule>;
using StreamOwner = std::unique_ptr<std::remove_pointer_t<CUstream>, DestroyStream>;
using Event = std::unique_ptr<std::remove_pointer_t<CUevent>, DestroyEvent>;
using PinnedMemory = std::unique_ptr<void, FreePinned>;

// `image` is a cubin or NUL-terminated PTX. The error holds the driver's own log.
Module load_module(const char* image);
StreamOwner make_stream(unsigned flags);
Event make_event(unsigned flags);
// Page-locked and mapped into the device's address space.
PinnedMemory make_mapped(std::size_t bytes);

}  // namespace strop::device::cuda
