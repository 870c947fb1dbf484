#pragma once

// NVRTC, found and opened at run time; the only place that includes nvrtc.h. Never closed once open. Thread-safe after
// opening.

#include <nvrtc.h>

#include <memory>
#include <string>

#include "jit/toolchain.h"

namespace strop::jit {

struct NvrtcLibrary {
  decltype(&nvrtcVersion) version = nullptr;
  decltype(&nvrtcGetNumSupportedArchs) num_supported_archs = nullptr;
  decltype(&nvrtcGetSupportedArchs) supported_archs = nullptr;
  decltype(&nvrtcCreateProgram) create_program = nullptr;
  decltype(&nvrtcDestroyProgram) destroy_program = nullptr;
  decltype(&nvrtcCompileProgram) compile_program = nullptr;
  decltype(&nvrtcGetCUBINSize) cubin_size = nullptr;
  decltype(&nvrtcGetCUBIN) cubin = nullptr;
  decltype(&nvrtcGetProgramLogSize) log_size = nullptr;
  decltype(&nvrtcGetProgramLog) log = nullptr;
  decltype(&nvrtcGetErrorString) error_string = nullptr;
  // Cancels a compile that takes too long; NVRTC 12.8 and later.
  nvrtcResult (*set_flow_callback)(nvrtcProgram, int (*)(void*, void*), void*) = nullptr;

  int major = 0;
  int minor = 0;
  Compiler compiler;
};

// `explicit_place`: file or folder, and by whose word; empty for the rules (docs/settings.md). Throws CompileError that
// lists where it looked and what to install.
std::unique_ptr<NvrtcLibrary> open_nvrtc(const std::string& explicit_place, const std::string& explicit_rule);

}  // namespace strop::jit
