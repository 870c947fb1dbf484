#pragma once

// What is known of a device. Facts are read from the device that will launch, never from device 0. A plain value: copy freely.

#include <cstddef>
#include <string>

namespace strop {

enum class DeviceKind { cuda, host };

struct DeviceFacts {
  DeviceKind kind = DeviceKind::host;
  int ordinal = 0;                     // position among the visible devices; provenance only, never part of a key
  std::string name;                    // "NVIDIA H200", or the CPU's model name
  std::string uuid;                    // provenance only, never part of a key
  std::string arch;                    // "sm_90"; "x86_64" for the host
  std::string mig_profile;             // empty when the device is not a MIG slice
  int sm_count = 0;                    // multiprocessors; cores for the host
  int warp_size = 32;
  int max_threads_per_block = 1024;
  int max_threads_per_sm = 2048;
  int registers_per_block = 65536;     // 32-bit registers
  std::size_t shared_per_block = 0;    // bytes a block may have once opted in
  std::size_t shared_per_sm = 0;       // bytes
  std::size_t l2_bytes = 0;
  std::size_t memory_bytes = 0;
  int memory_clock_khz = 0;
  int memory_bus_bits = 0;
  unsigned max_grid_x = 2147483647u;
  unsigned max_grid_y = 65535u;
  unsigned max_grid_z = 65535u;
  std::string driver;                  // full version, "580.159.03"; "unknown" when it can't be found; host runtime's for the host
  std::string driver_user_mode;        // libcuda's own version where it differs under forward compatibility; else equal to driver
  int driver_api = 0;                  // cuDriverGetVersion, 13000; 0 for the host

  // The part that decides whether a timing means anything here: architecture, SMs, L2, memory clock and width, opt-in shared memory,
  // MIG profile, and a host's name, as labelled text. Equal texts share winners; a GPU's name, UUID, ordinal and driver are not in it.
  std::string device_class() const;
};

}  // namespace strop
