// The generated translation unit.

#include <gtest/gtest.h>

#include <clocale>
#include <limits>
#include <locale>

#include "jit/toolchain.h"
#include "strop/error.h"
#include "tests/support/scale_kernel.h"

namespace strop::jit {
namespace {

using test::scale_kernel;
using test::scale_request;

class CommaNumbers : public std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

// Numbers as a German program would print them, in C++ streams and, where such a locale is installed, in C.
class GermanNumbers {
 public:
  GermanNumbers() : before_(std::locale::global(std::locale(std::locale::classic(), new CommaNumbers))) {
    for (const char* name : {"de_DE.UTF-8", "de_DE.utf8", "de_DE", "fr_FR.UTF-8"})
      if (std::setlocale(LC_ALL, name) != nullptr) break;
  }
  ~GermanNumbers() {
    std::locale::global(before_);
    std::setlocale(LC_ALL, "C");
  }

 private:
  std::locale before_;
};

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(GeneratedSource, is_this_text) {
  auto request = scale_request(scale_kernel(), "sm_90", Config{{"factor", 3}, {"min_blocks", 2}});
  request.constants = Config{{"square", 1}};
  EXPECT_EQ(generate_source(request, false),
            R"(#include "common/cuda/prelude.cuh"
#include "scale/main.cuh"

using StropArgs = scale::Args;
using StropDefaults = scale::Params;
struct StropParams : StropDefaults {
  static constexpr decltype(StropDefaults::square) square = static_cast<decltype(StropDefaults::square)>(1LL);
  static_assert(static_cast<long long>(square) == 1LL, "the type of parameter square can't hold 1LL");
  static constexpr decltype(StropDefaults::factor) factor = static_cast<decltype(StropDefaults::factor)>(3LL);
  static_assert(static_cast<long long>(factor) == 3LL, "the type of parameter factor can't hold 3LL");
  static constexpr decltype(StropDefaults::min_blocks) min_blocks = static_cast<decltype(StropDefaults::min_blocks)>(2LL);
  static_assert(static_cast<long long>(min_blocks) == 2LL, "the type of parameter min_blocks can't hold 2LL");
  static constexpr decltype(StropDefaults::threads) threads = static_cast<decltype(StropDefaults::threads)>(64LL);
  static_assert(static_cast<long long>(threads) == 64LL, "the type of parameter threads can't hold 64LL");
};
static_assert(sizeof(StropArgs) == 24, "host and device disagree on the size of scale::Args");
STROP_ENTRY(strop_scale, StropArgs, 64, 2, scale::run<StropParams>)
)");
}

TEST(GeneratedSource, for_the_host_differs_in_the_prelude_only) {
  const auto request = scale_request(scale_kernel(), "x86_64");
  const std::string cuda_prelude = "#include \"common/cuda/prelude.cuh\"";
  auto cuda = generate_source(request, false);
  ASSERT_TRUE(contains(cuda, cuda_prelude));
  cuda.replace(cuda.find(cuda_prelude), cuda_prelude.size(), "#include \"common/host/prelude.h\"");
  EXPECT_EQ(generate_source(request, true), cuda);
}

TEST(GeneratedSource, a_config_wins_over_a_constant_of_the_same_name) {
  auto request = scale_request(scale_kernel(), "sm_90", Config{{"factor", 3}});
  request.constants = Config{{"factor", 5}, {"threads", 256}};
  const auto source = generate_source(request, false);
  EXPECT_TRUE(contains(source, "factor)>(3LL)") && !contains(source, "(5LL)")) << source;
  EXPECT_TRUE(contains(source, "StropArgs, 64, 1,")) << source;
}

TEST(GeneratedSource, launch_bounds_may_come_from_the_constants_and_must_come_from_somewhere) {
  CompileRequest request{&scale_kernel(), Config{{"threads", 96}}, {}, "sm_90"};
  EXPECT_TRUE(contains(generate_source(request, false), "StropArgs, 96, 1,"));
  request.constants = {};
  try {
    generate_source(request, false);
    FAIL() << "no launch bounds, no error";
  } catch (const CompileError& error) {
    EXPECT_TRUE(contains(error.what(), "'threads'") && contains(error.what(), "kernel scale")) << error.what();
  }
}

TEST(GeneratedSource, does_not_depend_on_the_locale) {
  const auto request = scale_request(scale_kernel(), "sm_90", Config{{"factor", 1234567}, {"offset", -7654321}});
  const auto plain = generate_source(request, false);
  const auto identity = code_identity(request).text();
  const GermanNumbers german;
  ASSERT_TRUE(contains((std::ostringstream() << 1234567).str(), "1.234.567"));
  EXPECT_EQ(generate_source(request, false), plain);
  EXPECT_EQ(code_identity(request).text(), identity);
}

TEST(GeneratedSource, the_most_negative_number_is_written_so_that_it_compiles) {
  const auto request =
      scale_request(scale_kernel(), "sm_90", Config{{"offset", std::numeric_limits<std::int64_t>::min()}});
  EXPECT_TRUE(contains(generate_source(request, false), "((-9223372036854775807LL - 1))"));
}

}  // namespace
}  // namespace strop::jit
