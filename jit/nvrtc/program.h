#pragma once

// One program of NVRTC: created, compiled, asked, destroyed. Used by one thread.

#include <map>
#include <string>
#include <vector>

#include "jit/nvrtc/nvrtc_library.h"

namespace strop::jit {

class Program {
 public:
  // `headers` by the names that the source includes them by; read during `compile` too, by NVRTC's own copy.
  Program(const NvrtcLibrary& library, const std::string& source, const std::map<std::string, std::string>& headers);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  // False when it failed or took longer than `timeout_s`; `why` and `log` say the rest.
  bool compile(const std::vector<std::string>& options, double timeout_s);
  const std::string& why() const { return why_; }
  // After a failure: the compiler read the source and refused it. Otherwise the time, memory, the options or the installation failed.
  bool source_at_fault() const { return source_at_fault_; }
  std::string log() const;
  // Empty when NVRTC made none.
  std::string cubin() const;

 private:
  const NvrtcLibrary& library_;
  nvrtcProgram program_ = nullptr;
  std::string why_;
  bool source_at_fault_ = false;
};

}  // namespace strop::jit
