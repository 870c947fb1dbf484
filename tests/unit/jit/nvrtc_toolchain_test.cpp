// The CUDA toolchain with the real NVRTC; needs no GPU and no driver.

#include <gtest/gtest.h>

#include <clocale>
#include <filesystem>
#include <set>
#include <thread>

#include "jit/nvrtc/elf.h"
#include "jit/nvrtc/nvrtc_library.h"
#include "jit/nvrtc/program.h"
#include "jit/toolchain.h"
#include "strop/error.h"
#include "tests/support/scale_kernel.h"
#include "tests/support/test_folder.h"

namespace strop::jit {
namespace {

namespace fs = std::filesystem;
using test::Environment;
using test::scale_kernel;
using test::scale_request;
using test::TestFolder;

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

class Nvrtc : public testing::Test {
 protected:
  void SetUp() override {
    try {
      toolchain_->compiler();
    } catch (const CompileError& error) {
      GTEST_SKIP() << error.what();
    }
  }
  Binary compile(const std::string& target, const Config& values = {}) {
    return toolchain_->compile(scale_request(scale_kernel(), target, values));
  }
  CompileError error_of(const KernelTemplate& kernel, const std::string& target, const Config& values = {}) {
    try {
      make_nvrtc()->compile(scale_request(kernel, target, values));
    } catch (const CompileError& error) {
      return error;
    }
    ADD_FAILURE() << "it compiled";
    return {"", "", "", "", ""};
  }

  // What says nothing about the source.
  std::string failure_of(const std::string& target, double timeout_s = 30) {
    try {
      make_nvrtc({.library = "", .timeout_s = timeout_s})->compile(scale_request(scale_kernel(), target));
    } catch (const CompileError& error) {
      return std::string("the source is blamed: ") + error.what();
    } catch (const Error& error) {
      return error.what();
    }
    return "it compiled";
  }

  std::unique_ptr<Toolchain> toolchain_ = make_nvrtc();
};

TEST_F(Nvrtc, makes_cubins_for_the_real_architecture) {
  for (const std::string target : {"sm_90", "sm_90a"}) {
    const auto binary = compile(target, Config{{"factor", 3}});
    EXPECT_EQ(binary.bytes.substr(1, 3), "ELF") << target;
    EXPECT_EQ(binary.target, target);
    EXPECT_EQ(binary.entry, "strop_scale");
    EXPECT_EQ(binary.code, code_identity(scale_request(scale_kernel(), target, Config{{"factor", 3}})).digest());
    EXPECT_EQ(binary.compiler, toolchain_->compiler().identity());
    EXPECT_TRUE(contains(binary.log, "for '" + target + "'")) << binary.log;
  }
}

TEST_F(Nvrtc, compiles_without_a_warning) {
  const auto binary =
      compile("sm_90", Config{{"step", 16}, {"square", 1}, {"offset", std::numeric_limits<std::int64_t>::min()}});
  EXPECT_FALSE(contains(binary.log, "warning")) << binary.log;
}

TEST_F(Nvrtc, tells_resources_and_the_cubin_agrees_with_the_log) {
  for (const std::string target : {"sm_80", "sm_90"}) {
    const auto binary = compile(target);
    EXPECT_GT(binary.resources.registers, 0);
    EXPECT_EQ(binary.resources.static_shared, 64 * 4);
    EXPECT_EQ(binary.resources.spill_store_bytes, 0);
    EXPECT_EQ(binary.resources.stack_bytes, 0);
    const auto facts = read_cubin(binary.bytes, "strop_scale", target);
    EXPECT_EQ(facts.registers, binary.resources.registers) << target;
    EXPECT_EQ(facts.static_shared, binary.resources.static_shared) << target;
    EXPECT_EQ(facts.stack_bytes, binary.resources.stack_bytes) << target;
  }
}

TEST_F(Nvrtc, gives_the_same_bytes_twice) { EXPECT_EQ(compile("sm_90").bytes, compile("sm_90").bytes); }

TEST_F(Nvrtc, says_who_it_is_and_what_it_can_do) {
  const auto& compiler = toolchain_->compiler();
  EXPECT_EQ(compiler.name, "nvrtc");
  EXPECT_TRUE(fs::path(compiler.path).is_absolute() && fs::exists(compiler.path)) << compiler.path;
  EXPECT_FALSE(library_identity(compiler.path).empty());
  EXPECT_EQ(compiler.build_id.size(), 64u);
  EXPECT_FALSE(compiler.rule.empty());
  EXPECT_TRUE(std::find(compiler.targets.begin(), compiler.targets.end(), "sm_90") != compiler.targets.end());
  EXPECT_EQ(make_nvrtc()->compiler().identity(), compiler.identity());
}

TEST_F(Nvrtc, refuses_an_architecture_that_it_does_not_know_with_the_list_of_those_it_does) {
  const std::string message = failure_of("sm_99");
  EXPECT_FALSE(contains(message, "blamed"));
  const auto& compiler = toolchain_->compiler();
  for (const auto& words :
       {std::string("sm_99"), compiler.path, compiler.version, std::string("sm_89, sm_90"), std::string("STROP_NVRTC")})
    EXPECT_TRUE(contains(message, words)) << words << "\nnot in\n" << message;
}

TEST_F(Nvrtc, an_error_has_the_whole_log_the_options_the_source_and_the_library) {
  auto kernel = scale_kernel();
  kernel.sources["scale/parts.cuh"] += "int first = nothing_one;\nint second = nothing_two;\n";
  const auto error = error_of(kernel, "sm_90", Config{{"factor", 7}});
  EXPECT_TRUE(contains(error.log(), "nothing_one") && contains(error.log(), "nothing_two")) << error.log();
  EXPECT_TRUE(contains(error.log(), "scale/parts.cuh(")) << error.log();
  const auto& compiler = toolchain_->compiler();
  for (const auto& words :
       {std::string("kernel scale {factor=7, threads=64} for sm_90"), compiler.path, compiler.version, error.log()})
    EXPECT_TRUE(contains(error.what(), words)) << error.what();
  EXPECT_TRUE(contains(error.options(), "--gpu-architecture=sm_90"));
  EXPECT_TRUE(contains(error.source(), "STROP_ENTRY"));
  EXPECT_EQ(error.compiler(), compiler.identity());
}

TEST_F(Nvrtc, a_name_that_the_defaults_do_not_have_is_named) {
  EXPECT_TRUE(contains(error_of(scale_kernel(), "sm_90", Config{{"no_such_parameter", 1}}).log(), "no_such_parameter"));
}

TEST_F(Nvrtc, a_value_that_its_parameter_can_not_hold_is_refused) {
  EXPECT_TRUE(contains(error_of(scale_kernel(), "sm_90", Config{{"factor", 5'000'000'000}}).log(),
                       "parameter factor can't hold 5000000000"));
}

TEST_F(Nvrtc, a_different_size_of_the_args_on_the_device_is_an_error) {
  auto kernel = scale_kernel();
  kernel.args_size = 16;
  EXPECT_TRUE(contains(error_of(kernel, "sm_90").log(), "disagree on the size of scale::Args"));
}

TEST_F(Nvrtc, a_compile_that_takes_too_long_is_stopped_and_the_next_one_works) {
  if (open_nvrtc(toolchain_->compiler().path, "test")->set_flow_callback == nullptr)
    GTEST_SKIP() << "NVRTC " << toolchain_->compiler().version << " can't be stopped";
  const auto why = failure_of("sm_90", 1e-4);
  EXPECT_TRUE(contains(why, "took longer than 0.0001 s") && contains(why, "not remembered")) << why;
  EXPECT_NO_THROW(compile("sm_90"));
}

TEST_F(Nvrtc, options_that_it_refuses_are_not_the_sources_fault_and_an_error_in_it_is) {
  const auto library = open_nvrtc(toolchain_->compiler().path, "test");
  Program fine(*library, "__global__ void f() {}", {});
  EXPECT_FALSE(fine.compile({"--no-such-option"}, 30));
  EXPECT_FALSE(fine.source_at_fault()) << fine.why();
  Program wrong(*library, "__global__ void f() { nothing(); }", {});
  EXPECT_FALSE(wrong.compile({}, 30));
  EXPECT_TRUE(wrong.source_at_fault()) << wrong.why();
}

TEST_F(Nvrtc, headers_lying_about_are_not_used) {
  const auto plain = compile("sm_90").bytes;
  const TestFolder decoys;
  for (const char* folder : {"", "include/"})
    for (const char* name :
         {"cuda.h", "cuda_bf16.h", "common/types.cuh", "common/cuda/prelude.cuh", "scale/parts.cuh", "types.cuh"})
      decoys.write(std::string(folder) + name, "#error a decoy\n");
  const auto folder = decoys.path().string();
  const Environment cpath("CPATH", folder);
  const Environment plus("CPLUS_INCLUDE_PATH", folder);
  const Environment home("CUDA_HOME", folder);
  const Environment path("CUDA_PATH", folder);
  const auto before = fs::current_path();
  fs::current_path(decoys.path());
  EXPECT_EQ(compile("sm_90").bytes, plain);
  fs::current_path(before);
}

TEST_F(Nvrtc, threads_that_compile_side_by_side_get_what_one_thread_gets) {
  constexpr int kThreads = 8;
  constexpr int kConfigs = 4;
  std::vector<std::string> alone;
  for (int c = 0; c < kConfigs; ++c) alone.push_back(compile("sm_90", Config{{"factor", c}}).bytes);
  EXPECT_EQ(std::set<std::string>(alone.begin(), alone.end()).size(), std::size_t{kConfigs});
  const auto shared = make_nvrtc();  // opened by whichever thread is first
  std::vector<std::vector<std::string>> together(kThreads);
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t)
      threads.emplace_back([&, t] {
        for (int c = 0; c < kConfigs; ++c)
          together[t].push_back(
              shared->compile(scale_request(scale_kernel(), "sm_90", Config{{"factor", (c + t) % kConfigs}})).bytes);
      });
  }
  for (int t = 0; t < kThreads; ++t)
    for (int c = 0; c < kConfigs; ++c) EXPECT_EQ(together[t][c], alone[(c + t) % kConfigs]) << t << ' ' << c;
}

TEST_F(Nvrtc, leaves_the_locale_alone) {
  const std::string before = std::setlocale(LC_ALL, "C.UTF-8") != nullptr ? std::setlocale(LC_ALL, nullptr) : "C";
  compile("sm_90");
  EXPECT_EQ(std::setlocale(LC_ALL, nullptr), before);
  std::setlocale(LC_ALL, "C");
}

TEST_F(Nvrtc, the_prelude_compiles_with_a_kernel_that_uses_nothing_of_it) {
  KernelTemplate kernel{
      .name = "nothing",
      .file = "nothing.cuh",
      .function = "run",
      .params = "Params",
      .args = "Args",
      .args_size = 8,
      .sources = {{"nothing.cuh",
                   "struct Args { float* p; };\nstruct Params { static constexpr int threads = 1; };\n"
                   "template <class P> __device__ void run(const Args& a) { *a.p = 1; }\n"}}};
  EXPECT_NO_THROW(toolchain_->compile({&kernel, {}, Config{{"threads", 64}}, "sm_90"}));
}

// A library stays open, so what depends on the one that is opened first runs in a process of its own.
class NvrtcElsewhere : public Nvrtc {
 protected:
  void SetUp() override {
    Nvrtc::SetUp();
    if (IsSkipped()) return;
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    library_ = toolchain_->compiler().path;
    soname_ = "libnvrtc.so." + toolchain_->compiler().version.substr(0, 2);
    builtins_ = "libnvrtc-builtins.so." + toolchain_->compiler().version;
  }
  [[noreturn]] static void compile_in(const fs::path& folder) {
    const Environment setting("STROP_NVRTC", folder.string());
    const auto toolchain = make_nvrtc();
    try {
      const auto binary = toolchain->compile(scale_request(scale_kernel(), "sm_90"));
      std::fprintf(stderr, "compiled %zu bytes by %s (%s)\n", binary.bytes.size(), toolchain->compiler().path.c_str(),
                   toolchain->compiler().rule.c_str());
    } catch (const CompileError& error) {
      std::fprintf(stderr, "refused: %s\n", error.what());
    }
    std::exit(0);
  }

  fs::path library_;
  std::string soname_;
  std::string builtins_;
  TestFolder folder_;
};
using NvrtcElsewhereDeathTest = NvrtcElsewhere;

TEST_F(NvrtcElsewhereDeathTest, a_copy_with_its_builtins_is_the_one_that_is_used) {
  fs::copy_file(library_, folder_.path() / soname_);
  fs::copy_file(library_.parent_path() / builtins_, folder_.path() / builtins_);
  EXPECT_EXIT(compile_in(folder_.path()), testing::ExitedWithCode(0),
              "compiled .* by .*strop-test-.*setting STROP_NVRTC");
}

TEST_F(NvrtcElsewhereDeathTest, a_copy_without_builtins_finds_those_of_the_loader_or_says_what_is_missing) {
  fs::copy_file(library_, folder_.path() / soname_);
  EXPECT_EXIT(compile_in(folder_.path()), testing::ExitedWithCode(0),
              "compiled .* by .*strop-test-|refused: .*strop-test-.*libnvrtc-builtins.*STROP_NVRTC");
}

TEST_F(NvrtcElsewhereDeathTest, a_folder_without_nvrtc_is_an_error_with_the_remedy) {
  EXPECT_EXIT(
      compile_in(folder_.path()), testing::ExitedWithCode(0),
      "refused: no NVRTC to compile with: .*libnvrtc.so.13 .setting STROP_NVRTC.*pip install nvidia-cuda-nvrtc");
}

TEST_F(NvrtcElsewhereDeathTest, a_file_that_is_no_library_is_an_error_with_the_loaders_words) {
  folder_.write("libnvrtc.so.13", "not a library");
  EXPECT_EXIT(compile_in(folder_.path()), testing::ExitedWithCode(0),
              "refused: no NVRTC .*(file too short|invalid ELF header)");
}

}  // namespace
}  // namespace strop::jit
