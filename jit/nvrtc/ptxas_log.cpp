#include "jit/nvrtc/ptxas_log.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/base/format.h"

namespace strop::jit {
namespace {

// The number before `words`: 632 of "632 bytes stack frame"; -1 when there is none.
int number_before(std::string_view line, std::string_view words) {
  const auto at = line.find(words);
  if (at == std::string_view::npos || at == 0) return -1;
  const auto end = line.find_last_not_of(' ', at - 1);
  if (end == std::string_view::npos) return -1;
  const auto before = line.find_last_not_of("0123456789", end);
  const auto begin = before == std::string_view::npos ? 0 : before + 1;
  return static_cast<int>(to_int(line.substr(begin, end + 1 - begin)).value_or(-1));
}

void read_line(std::string_view line, Resources& resources) {
  if (line.find(": Used ") != std::string_view::npos && resources.registers < 0) {
    resources.registers = number_before(line, " registers");
    // ptxas names shared memory only when there is some.
    resources.static_shared = std::max(number_before(line, " bytes smem"), 0);
  }
  if (const int stack = number_before(line, " bytes stack frame"); stack >= 0) {
    resources.stack_bytes = std::max(resources.stack_bytes, stack);
    resources.spill_store_bytes =
        std::max(resources.spill_store_bytes, 0) + std::max(number_before(line, " bytes spill stores"), 0);
    resources.spill_load_bytes =
        std::max(resources.spill_load_bytes, 0) + std::max(number_before(line, " bytes spill loads"), 0);
  }
}

}  // namespace

Resources parse_ptxas(std::string_view log, std::string_view entry) {
  Resources resources;
  // Before it come the front end's warnings, which may speak of registers too.
  const auto begin = log.find(fmt::format("Compiling entry function '{}'", entry));
  if (begin == std::string_view::npos) return resources;
  for (std::size_t at = begin; at < log.size();) {
    const auto end = std::min(log.find('\n', at), log.size());
    read_line(log.substr(at, end - at), resources);
    at = end + 1;
  }
  return resources;
}

}  // namespace strop::jit
