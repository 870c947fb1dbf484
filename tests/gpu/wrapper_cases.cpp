#include "tests/gpu/wrapper_cases.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "strop/error.h"

namespace strop::conformance {

std::vector<std::uint32_t> random_words(std::size_t n, std::uint32_t limit, std::uint32_t seed) {
  std::vector<std::uint32_t> words(n);
  std::uint64_t state = seed * 0x9e3779b97f4a7c15ull + 1;
  for (std::uint32_t& word : words) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    word = static_cast<std::uint32_t>(state >> 33) % limit;
  }
  return words;
}

std::uint32_t bits_of(float v) { return std::bit_cast<std::uint32_t>(v); }
float float_of(std::uint32_t bits) { return std::bit_cast<float>(bits); }

const std::vector<WrapperCase>& wrapper_cases() {
  static const std::vector<WrapperCase> all = [] {
    std::vector<WrapperCase> cases;
    for (const auto part : {sync_cases, copy_cases, memory_cases, matrix_cases, number_cases})
      for (WrapperCase& c : part()) cases.push_back(std::move(c));
    return cases;
  }();
  return all;
}

KernelTemplate wrapper_template(const WrapperCase& c) {
  KernelTemplate kernel;
  kernel.name = "conformance_" + c.function;
  kernel.file = c.file;
  kernel.function = "strop::conformance::" + c.function;
  kernel.params = "strop::conformance::" + c.params;
  kernel.args = "strop::conformance::Args";
  kernel.args_size = sizeof(Args);
  for (const std::string& name : {c.file, std::string("wrappers/args.cuh")}) {
    std::ifstream text(std::filesystem::path(STROP_TEST_SOURCES) / "gpu" / name);
    if (!text) throw Error("no test template " + name);
    kernel.sources[name] = {std::istreambuf_iterator<char>(text), {}};
  }
  return kernel;
}

namespace {

bool close(const WrapperCase& c, std::uint32_t expected, std::uint32_t got) {
  if (expected == got) return true;
  if (c.relative == 0 && c.absolute == 0) return false;
  const double e = float_of(expected), g = float_of(got);
  if (std::isnan(e) || std::isnan(g)) return std::isnan(e) && std::isnan(g);
  return std::fabs(g - e) <= c.relative * std::fabs(e) + c.absolute;
}

}  // namespace

std::string difference(const WrapperCase& c, const std::vector<std::uint32_t>& out) {
  if (out.size() != c.expected.size()) return fmt::format("{} words, {} expected", out.size(), c.expected.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (close(c, c.expected[i], out[i])) continue;
    return fmt::format("word {}: {:#010x} ({}), expected {:#010x} ({})", i, out[i], float_of(out[i]), c.expected[i],
                       float_of(c.expected[i]));
  }
  return {};
}

}  // namespace strop::conformance
