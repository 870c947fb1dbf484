#include "strop/device_facts.h"

#include <fmt/format.h>

#include "src/base/digest.h"

namespace strop {

std::string DeviceFacts::device_class() const {
  Ingredients text;
  text.add("kind", kind == DeviceKind::cuda ? "cuda" : "host");
  // One chip is sold under several names; its numbers tell it from others. A processor's numbers here do not.
  if (kind == DeviceKind::host) text.add("name", name);
  text.add("arch", arch);
  text.add("sm_count", std::to_string(sm_count)).add("l2_bytes", std::to_string(l2_bytes));
  text.add("memory_clock_khz", std::to_string(memory_clock_khz)).add("memory_bus_bits", std::to_string(memory_bus_bits));
  text.add("shared_per_block", std::to_string(shared_per_block)).add("mig_profile", mig_profile);
  return text.text();
}

}  // namespace strop
