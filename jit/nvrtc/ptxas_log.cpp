#include "jit/nvrtc/ptxas_log.h"

#include "src/base/format.h"

namespace strop::jit {
namespace {

// The number before `words`: "632" in "632 bytes stack frame".
int number_before(std::string_view log, std::string_view words) {
  const auto at = log.find(words);
  if (at == std::string_view::npos || at == 0) return -1;
  const auto end = log.find_last_not_of(' ', at - 1);
  if (end == std::string_view::npos) return -1;
  const auto blank = log.find_last_not_of("0123456789", end);
  const auto begin = blank == std::string_view::npos ? 0 : blank + 1;
  return static_cast<int>(to_int(log.substr(begin, end + 1 - begin)).value_or(-1));
}

}  // namespace

Resources parse_ptxas(std::string_view log) {
  Resources resources;
  resources.registers = number_before(log, "registers");
  if (resources.registers < 0) return resources;
  resources.stack_bytes = number_before(log, "bytes stack frame");
  resources.spill_store_bytes = number_before(log, "bytes spill stores");
  resources.spill_load_bytes = number_before(log, "bytes spill loads");
  // ptxas names shared memory only when there is some.
  const int shared = number_before(log, "bytes smem");
  resources.static_shared = shared < 0 ? 0 : shared;
  return resources;
}

}  // namespace strop::jit
