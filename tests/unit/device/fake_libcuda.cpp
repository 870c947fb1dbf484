// A driver library that lacks one thing: the same source is built once a case (tests/device.cmake). It answers what
// probing asks and nothing more; what a real driver does is tested on a GPU (tests/gpu). With FAKE_HANGS it is one whose kernels never
// end: what a real driver would wait in then ends the process with 66.

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

#if !defined(FAKE_VERSION)
#define FAKE_VERSION 13000
#endif
#if !defined(FAKE_INIT)
#define FAKE_INIT 0
#endif
#if !defined(FAKE_DEVICES)
#define FAKE_DEVICES 1
#endif
#if !defined(FAKE_LACKS)
#define FAKE_LACKS ""
#endif
#if !defined(FAKE_LACKS_HOW)
#define FAKE_LACKS_HOW 1
#endif

#pragma GCC visibility push(default)
extern "C" {

int cuInit(unsigned) { return FAKE_INIT; }

int cuDriverGetVersion(int* version) {
  *version = FAKE_VERSION;
  return 0;
}

#if FAKE_VERSION >= 12000
static int device_count(int* count) {
  *count = FAKE_DEVICES;
  return 0;
}

static int error_name(int, const char** name) {
  *name = "CUDA_ERROR_OF_THE_FAKE";
  return 0;
}

#if defined(FAKE_HANGS)
static int succeed() { return 0; }
static int not_supported() { return 801; }
static int not_ready() { return 600; }
static int would_hang() { std::_Exit(66); }
static int make_handle(void** handle) {
  static char memory[64];
  *handle = memory;
  return 0;
}

static void* function_of(const char* symbol) {
  for (const char* waits : {"cuMemFree", "cuMemFreeHost", "cuModuleUnload", "cuStreamDestroy", "cuEventDestroy", "cuStreamSynchronize",
                            "cuDevicePrimaryCtxRelease"})
    if (std::strcmp(symbol, waits) == 0) return reinterpret_cast<void*>(&would_hang);
  for (const char* makes : {"cuDevicePrimaryCtxRetain", "cuModuleLoadDataEx", "cuStreamCreate", "cuEventCreate", "cuMemAlloc",
                            "cuMemHostAlloc", "cuMemHostGetDevicePointer", "cuModuleGetFunction"})
    if (std::strcmp(symbol, makes) == 0) return reinterpret_cast<void*>(&make_handle);
  if (std::strcmp(symbol, "cuEventQuery") == 0) return reinterpret_cast<void*>(&not_ready);
  if (std::strcmp(symbol, "cuStreamWaitValue32") == 0) return reinterpret_cast<void*>(&not_supported);
  return reinterpret_cast<void*>(&succeed);
}
#else
static int never_called() { return 999; }
static void* function_of(const char*) { return reinterpret_cast<void*>(&never_called); }
#endif

int cuGetProcAddress_v2(const char* symbol, void** address, int, std::uint64_t, int* status) {
  if (std::strcmp(symbol, FAKE_LACKS) == 0) {
    *address = nullptr;
    *status = FAKE_LACKS_HOW;
    return 0;
  }
  *status = 0;
  *address = function_of(symbol);
  if (std::strcmp(symbol, "cuInit") == 0) *address = reinterpret_cast<void*>(&cuInit);
  if (std::strcmp(symbol, "cuDriverGetVersion") == 0) *address = reinterpret_cast<void*>(&cuDriverGetVersion);
  if (std::strcmp(symbol, "cuDeviceGetCount") == 0) *address = reinterpret_cast<void*>(&device_count);
  if (std::strcmp(symbol, "cuGetErrorName") == 0) *address = reinterpret_cast<void*>(&error_name);
  return 0;
}
#endif

}  // extern "C"
#pragma GCC visibility pop
