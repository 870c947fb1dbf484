#pragma once

// What `strop doctor` finds out: driver, devices, compilers, cache, each with the rule by which it was found and what
// to do when it is missing. Never throws for what is missing: that is a finding.

#include <optional>
#include <string>
#include <vector>

#include "cache/store.h"
#include "jit/toolchain.h"
#include "src/device/device.h"
#include "strop/device_facts.h"
#include "tools/strop/command.h"

namespace strop::cli {

struct CompilerFinding {
  std::string what;  // "nvrtc", "host"
  std::optional<jit::Compiler> compiler;
  std::string reason;  // why it can't be had
};

struct CacheFinding {
  cache::Place place;
  bool exists = false;
  bool writable = false;
  cache::Stats stats;
  std::string reason;  // why it can't be used
};

struct Findings {
  device::CudaProbe driver;
  std::vector<DeviceFacts> devices;  // GPUs, then the host
  CompilerFinding nvrtc;
  CompilerFinding host_compiler;
  CacheFinding cache;
  std::vector<std::string> advice;  // what to do, the most important first

  bool has_gpu() const;
  // Something can be tuned and run here.
  bool usable() const;
};

Findings examine(const Session& session);

}  // namespace strop::cli
