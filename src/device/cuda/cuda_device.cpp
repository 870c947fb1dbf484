#include "src/device/cuda/cuda_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <typeinfo>

#include "src/base/format.h"
#include "src/base/log.h"
#include "src/device/cuda/cuda_kernel.h"
#include "src/device/cuda/errors.h"
#include "src/device/cuda/facts.h"
#include "src/device/cuda/lost.h"
#include "src/device/cuda_facts.h"
#include "strop/error.h"

namespace strop::device {
namespace cuda {
namespace {

CUdeviceptr address(const void* pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }
CUstream native(Stream stream) { return static_cast<CUstream>(stream); }

CUdevice device_at(int ordinal) {
  const int devices = (static_cast<void>(driver()), probe().devices);
  if (ordinal < 0 || ordinal >= devices) {
    throw Error(fmt::format("there is no CUDA device {}: {} visible, counted from 0", ordinal, devices));
  }
  CUdevice device = 0;
  check(driver().cuDeviceGet(&device, ordinal), "cuDeviceGet");
  return device;
}

std::string geometry_text(const LaunchGeometry& g) {
  const auto text = [](const Dim3& d) { return fmt::format("{}x{}x{}", d.x, d.y, d.z); };
  return fmt::format("launching grid {} block {} cluster {} with {} bytes of dynamic shared memory", text(g.grid),
                     text(g.block), text(g.cluster), g.dynamic_shared);
}

CUresult launch_with_attributes(const Driver& driver, CUfunction function, const LaunchGeometry& g, CUstream stream,
                                void** parameters) {
  std::array<CUlaunchAttribute, 2> attributes{};
  CUlaunchConfig config{};
  if (g.cluster != Dim3{}) {
    CUlaunchAttribute& attribute = attributes[config.numAttrs++];
    attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attribute.value.clusterDim = {g.cluster.x, g.cluster.y, g.cluster.z};
  }
  if (g.overlap_previous) {
    CUlaunchAttribute& attribute = attributes[config.numAttrs++];
    attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    attribute.value.programmaticStreamSerializationAllowed = 1;
  }
  config.gridDimX = g.grid.x;
  config.gridDimY = g.grid.y;
  config.gridDimZ = g.grid.z;
  config.blockDimX = g.block.x;
  config.blockDimY = g.block.y;
  config.blockDimZ = g.block.z;
  config.sharedMemBytes = g.dynamic_shared;
  config.hStream = stream;
  config.attrs = attributes.data();
  return driver.cuLaunchKernelEx(&config, function, parameters, nullptr);
}

// A static_cast that can't go wrong: a kernel of the host device, or of another GPU, is refused.
const CudaKernel& own_kernel(const LoadedKernel& kernel, CUcontext context) {
  if (typeid(kernel) != typeid(CudaKernel)) [[unlikely]]
    throw Error("a kernel that was loaded on the host device can't be launched on a GPU");
  const auto& ours = static_cast<const CudaKernel&>(kernel);
  if (ours.context() != context) [[unlikely]]
    throw Error("the kernel was loaded on another CUDA device: load it on this one");
  return ours;
}

}  // namespace

CudaDevice::CudaDevice(int ordinal)
    : driver_(driver()),
      device_(device_at(ordinal)),
      context_(std::make_shared<const PrimaryContext>(device_)),
      nvml_(uuid_text(device_)),
      facts_(read_facts(device_, ordinal, nvml_)),
      pageable_(attribute(device_, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS) != 0) {
  const ContextScope scope(context_->get());
  const RelaxedCapture relaxed;
  transfers_ = make_stream(CU_STREAM_DEFAULT);
  own_ = make_stream(CU_STREAM_NON_BLOCKING);
}

CudaDevice::~CudaDevice() {
  if (abandoned(context_->get())) {
    static_cast<void>(timer_.release());
    static_cast<void>(transfers_.release());
    static_cast<void>(own_.release());
    return;
  }
  try {
    const ContextScope scope(context_->get());
    timer_.reset();
    transfers_.reset();
    own_.reset();
  } catch (const std::exception& error) {
    log::warn(fmt::format("closing CUDA device {}: {}", facts_.ordinal, error.what()));
  }
}

void* CudaDevice::allocate(std::size_t bytes) {
  const ContextScope scope(context_->get());
  const RelaxedCapture relaxed;
  CUdeviceptr memory = 0;
  const CUresult result = driver_.cuMemAlloc(&memory, std::max<std::size_t>(bytes, 1));
  if (result != CUDA_SUCCESS) {
    std::size_t free = 0;
    std::size_t total = 0;
    static_cast<void>(driver_.cuMemGetInfo(&free, &total));
    throw_error(
        result, "cuMemAlloc",
        fmt::format("asking for {} where {} of {} are free", bytes_text(bytes), bytes_text(free), bytes_text(total)));
  }
  return std::bit_cast<void*>(memory);
}

void CudaDevice::release(void* pointer) noexcept {
  if (pointer == nullptr || abandoned(context_->get())) return;
  try {
    const ContextScope scope(context_->get());
    const RelaxedCapture relaxed;
    check_quietly(driver_.cuMemFree(address(pointer)), "cuMemFree");
  } catch (const std::exception& error) {
    log::warn(fmt::format("device memory could not be freed: {}", error.what()));
  }
}

std::size_t CudaDevice::free_bytes() const {
  const ContextScope scope(context_->get());
  std::size_t free = 0;
  std::size_t total = 0;
  check(driver_.cuMemGetInfo(&free, &total), "cuMemGetInfo");
  return free;
}

void CudaDevice::finish_transfer() { check(driver_.cuStreamSynchronize(transfers_.get()), "cuStreamSynchronize"); }

void CudaDevice::upload(void* to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  const ContextScope scope(context_->get());
  const RelaxedCapture relaxed;
  check(driver_.cuMemcpyHtoDAsync(address(to), from, bytes, transfers_.get()), "cuMemcpyHtoDAsync");
  finish_transfer();
}

void CudaDevice::download(void* to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  const ContextScope scope(context_->get());
  const RelaxedCapture relaxed;
  check(driver_.cuMemcpyDtoHAsync(to, address(from), bytes, transfers_.get()), "cuMemcpyDtoHAsync");
  finish_transfer();
}

void CudaDevice::copy(void* to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  const ContextScope scope(context_->get());
  const RelaxedCapture relaxed;
  check(driver_.cuMemcpyDtoDAsync(address(to), address(from), bytes, transfers_.get()), "cuMemcpyDtoDAsync");
  finish_transfer();
}

void CudaDevice::fill(void* to, unsigned char byte, std::size_t bytes) {
  if (bytes == 0) return;
  const ContextScope scope(context_->get());
  const RelaxedCapture relaxed;
  check(driver_.cuMemsetD8Async(address(to), byte, bytes, transfers_.get()), "cuMemsetD8Async");
  finish_transfer();
}

std::shared_ptr<LoadedKernel> CudaDevice::load(std::string_view binary, std::string_view entry,
                                               unsigned dynamic_shared) {
  const ContextScope scope(context_->get());
  const RelaxedCapture relaxed;
  return std::make_shared<CudaKernel>(context_, binary, entry, dynamic_shared);
}

// The warm path: no lock, no allocation, no text.
void CudaDevice::launch(const LoadedKernel& kernel, const LaunchGeometry& g, const void* arguments, std::size_t bytes,
                        Stream stream) {
  const CudaKernel& ours = own_kernel(kernel, context_->get());
  if (ours.argument_bytes() != 0 && ours.argument_bytes() != bytes) [[unlikely]] {
    throw Error(fmt::format("the kernel takes {} bytes of arguments, not {}", ours.argument_bytes(), bytes));
  }
  const ContextScope scope(context_->get());
  void* parameters[] = {const_cast<void*>(arguments)};
  const bool plain = g.cluster == Dim3{} && !g.overlap_previous;
  const CUresult result =
      plain ? driver_.cuLaunchKernel(ours.function(), g.grid.x, g.grid.y, g.grid.z, g.block.x, g.block.y, g.block.z,
                                     g.dynamic_shared, native(stream), parameters, nullptr)
            : launch_with_attributes(driver_, ours.function(), g, native(stream), parameters);
  if (result != CUDA_SUCCESS) [[unlikely]]
    throw_error(result, plain ? "cuLaunchKernel" : "cuLaunchKernelEx", geometry_text(g));
}

void CudaDevice::synchronize(Stream stream) {
  const ContextScope scope(context_->get());
  const RelaxedCapture relaxed;
  check(driver_.cuStreamSynchronize(native(stream)), "cuStreamSynchronize");
}

void CudaDevice::synchronize_within(Stream stream, double seconds) {
  const ContextScope scope(context_->get());
  const RelaxedCapture relaxed;
  Event end = make_event(CU_EVENT_DISABLE_TIMING);
  check(driver_.cuEventRecord(end.get(), native(stream)), "cuEventRecord");
  try {
    wait_for(driver_, context_->get(), end.get(), std::chrono::duration<double>(seconds));
  } catch (...) {
    if (lost(context_->get())) static_cast<void>(end.release());
    throw;
  }
}

bool CudaDevice::capturing(Stream stream) const {
  const ContextScope scope(context_->get());
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  const CUresult result = driver_.cuStreamIsCapturing(native(stream), &status);
  // The legacy stream can't be captured, but while a stream that it waits for is, work on it would destroy that
  // capture.
  if (result == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT) return true;
  check(result, "cuStreamIsCapturing");
  return status != CU_STREAM_CAPTURE_STATUS_NONE;
}

std::vector<double> CudaDevice::time(const std::function<void(Stream, int)>& launch_one, const TimingPlan& plan) {
  if (plan.batches < 1 || plan.launches < 1) throw Error("a timing plan needs at least one batch of one launch");
  const ContextScope scope(context_->get());
  const RelaxedCapture relaxed;
  {
    const std::lock_guard lock(timer_mutex_);
    if (!timer_) timer_ = std::make_unique<Timer>(context_->get());
  }
  return timer_->time(launch_one, plan);
}

std::optional<bool> CudaDevice::throttled() {
  const std::lock_guard lock(nvml_mutex_);
  return nvml_.throttled();
}

}  // namespace cuda

DeviceFacts cuda_facts(int ordinal) {
  const CUdevice device = cuda::device_at(ordinal);
  return cuda::read_facts(device, ordinal, cuda::NvmlDevice(cuda::uuid_text(device)));
}

std::unique_ptr<Device> open_cuda(int ordinal) { return std::make_unique<cuda::CudaDevice>(ordinal); }

}  // namespace strop::device
