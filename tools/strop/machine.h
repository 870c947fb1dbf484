#pragma once

// What is here to hold the cache's entries against: the devices of this machine and the kernels of this build. Devices
// are asked at the first entry that wants their kind, once, and no context is made on a GPU; a machine without GPU, driver
// or compiler has fewer, and nothing throws. Used by one thread.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cache/store.h"
#include "src/engine/entry_state.h"
#include "strop/device_facts.h"
#include "strop/kernel.h"

namespace strop::cli {

class Machine {
 public:
  // The state of an entry on the device it was timed on, if one of that class is here.
  engine::EntryState state_of(const cache::Winner& winner);
  // Its kernel is one of this build's, and has another template or space by now.
  bool outdated(const cache::Winner& winner);
  // The first device here of the entry's class.
  const DeviceFacts* device_of(const cache::Winner& winner);

  const std::vector<DeviceFacts>& cuda();
  const std::vector<DeviceFacts>& host();

 private:
  std::string template_digest_of(const std::string& kernel, bool host);

  std::optional<std::vector<DeviceFacts>> cuda_;
  std::optional<std::vector<DeviceFacts>> host_;
  std::map<std::pair<std::string, bool>, std::string> digests_;
};

// "cuda:1" or "host": what Options::device calls it.
std::string device_word(const DeviceFacts& facts);
// What a timing made on this device now would be filed under. The compiler is not asked: looking must not open it.
cache::Environment environment_of(const DeviceFacts& facts);
const Kernel* find_kernel(const std::string& name);

}  // namespace strop::cli
