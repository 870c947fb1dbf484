#include "src/device/cuda/handles.h"

#include <array>
#include <bit>

#include "src/device/cuda/errors.h"
#include "src/device/cuda/lost.h"

namespace strop::device::cuda {

PrimaryContext::PrimaryContext(CUdevice device) : device_(device) {
  check(driver().cuDevicePrimaryCtxRetain(&context_, device), "cuDevicePrimaryCtxRetain");
}

PrimaryContext::~PrimaryContext() {
  if (!abandoned(context_)) check_quietly(opened().cuDevicePrimaryCtxRelease(device_), "cuDevicePrimaryCtxRelease");
}

ContextScope::ContextScope(CUcontext context) : driver_(opened()) {
  require_not_lost(context);
  CUcontext current = nullptr;
  check(driver_.cuCtxGetCurrent(&current), "cuCtxGetCurrent");
  if (current == context) return;
  check(driver_.cuCtxPushCurrent(context), "cuCtxPushCurrent");
  pushed_ = true;
}

ContextScope::~ContextScope() {
  CUcontext ours = nullptr;
  if (pushed_) check_quietly(driver_.cuCtxPopCurrent(&ours), "cuCtxPopCurrent");
}

RelaxedCapture::RelaxedCapture() {
  check(opened().cuThreadExchangeStreamCaptureMode(&previous_), "cuThreadExchangeStreamCaptureMode");
}

RelaxedCapture::~RelaxedCapture() {
  if (!forked())
    check_quietly(opened().cuThreadExchangeStreamCaptureMode(&previous_), "cuThreadExchangeStreamCaptureMode");
}

void UnloadModule::operator()(CUmodule module) const noexcept {
  if (!forked()) check_quietly(opened().cuModuleUnload(module), "cuModuleUnload");
}

void DestroyStream::operator()(CUstream stream) const noexcept {
  if (!forked()) check_quietly(opened().cuStreamDestroy(stream), "cuStreamDestroy");
}

void DestroyEvent::operator()(CUevent event) const noexcept {
  if (!forked()) check_quietly(opened().cuEventDestroy(event), "cuEventDestroy");
}

void FreePinned::operator()(void* memory) const noexcept {
  if (!forked()) check_quietly(opened().cuMemFreeHost(memory), "cuMemFreeHost");
}

Module load_module(const char* image) {
  std::array<char, 4096> log{};
  std::array<CUjit_option, 2> options{CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  // The driver takes integers by value in pointers here.
  std::array<void*, 2> values{log.data(), std::bit_cast<void*>(log.size())};
  CUmodule module = nullptr;
  const CUresult result = opened().cuModuleLoadDataEx(&module, image, options.size(), options.data(), values.data());
  log.back() = '\0';
  if (result != CUDA_SUCCESS) throw_error(result, "cuModuleLoadDataEx", log.data());
  return Module(module);
}

StreamOwner make_stream(unsigned flags) {
  CUstream stream = nullptr;
  check(opened().cuStreamCreate(&stream, flags), "cuStreamCreate");
  return StreamOwner(stream);
}

Event make_event(unsigned flags) {
  CUevent event = nullptr;
  check(opened().cuEventCreate(&event, flags), "cuEventCreate");
  return Event(event);
}

PinnedMemory make_mapped(std::size_t bytes) {
  void* memory = nullptr;
  check(opened().cuMemHostAlloc(&memory, bytes, CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_PORTABLE),
        "cuMemHostAlloc");
  return PinnedMemory(memory);
}

}  // namespace strop::device::cuda
