#include "src/engine/arch_facts.h"

#include <array>

#include <fmt/format.h>

#include "strop/error.h"

namespace strop::engine {
namespace {

struct Row {
  std::string_view arch;
  std::size_t shared_per_block;
  std::size_t shared_per_sm;
  int threads_per_sm;
};

constexpr std::size_t kKiB = 1024;
constexpr std::array<Row, 8> kRows{{
    {"sm_80", 163 * kKiB, 164 * kKiB, 2048},
    {"sm_86", 99 * kKiB, 100 * kKiB, 1536},
    {"sm_87", 163 * kKiB, 164 * kKiB, 1536},
    {"sm_89", 99 * kKiB, 100 * kKiB, 1536},
    {"sm_90", 227 * kKiB, 228 * kKiB, 2048},
    {"sm_100", 227 * kKiB, 228 * kKiB, 2048},
    {"sm_103", 227 * kKiB, 228 * kKiB, 2048},
    {"sm_120", 99 * kKiB, 100 * kKiB, 1536},
}};

}  // namespace

DeviceFacts arch_facts(const std::string& arch) {
  std::string known;
  for (const auto& row : kRows) {
    if (row.arch == arch) {
      DeviceFacts facts;
      facts.kind = DeviceKind::cuda;
      facts.name = "no device";
      facts.arch = arch;
      facts.shared_per_block = row.shared_per_block;
      facts.shared_per_sm = row.shared_per_sm;
      facts.max_threads_per_sm = row.threads_per_sm;
      facts.driver = "unknown";
      return facts;
    }
    known += known.empty() ? "" : ", ";
    known += row.arch;
  }
  throw Error(fmt::format("'{}' is no architecture strop compiles for: known are {}", arch, known));
}

}  // namespace strop::engine
