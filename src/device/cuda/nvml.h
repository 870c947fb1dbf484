#pragma once

// NVIDIA's management library, opened at run time where it is there (no header of it is needed): the driver's full
// version, a MIG slice's profile, and whether the clocks are held down. Everything is optional: a machine without it
// answers empty. Thread-safe; opened once, never closed.

#include <cstdint>
#include <optional>
#include <string>

namespace strop::device::cuda {

// "580.159.03": the kernel module's version.
std::optional<std::string> nvml_driver_version();

// One device, by UUID (a whole GPU's or a MIG slice's), since NVML and CUDA number devices differently.
class NvmlDevice {
 public:
  // `uuid` without its prefix: "1a2b3c4d-...". A device that NVML does not know answers empty.
  explicit NvmlDevice(const std::string& uuid);

  // "1g.18gb"; empty when it is not a MIG slice.
  std::string mig_profile() const;
  // True when heat, power or a hardware signal holds the clocks down now, or did since the last call where the driver
  // counts it.
  std::optional<bool> throttled();

 private:
  std::optional<std::uint64_t> violation_ns(int policy) const;

  void* device_ = nullptr;  // of the whole GPU: clocks are its
  void* slice_ = nullptr;   // of the MIG slice, if it is one
  std::uint64_t power_ns_ = 0;
  std::uint64_t thermal_ns_ = 0;
};

}  // namespace strop::device::cuda
