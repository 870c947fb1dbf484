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
  std::string reason;  // why it can't be had, or can't be used

  // A compiler that is found may still make nothing: it was tried.
  bool works() const { return compiler && reason.empty(); }
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
  // Something can be tuned and run here, on the device that STROP_DEVICE names if it names one.
  bool usable() const;
  // Why a warmup would fail, or not do what was meant, in one sentence; empty when it would do.
  std::string fault() const;
};

Findings examine(const Session& session);

}  // namespace strop::cli
