// The host's toolchain, with the real compiler.

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <fstream>
#include <thread>

#include "jit/host/temporary_folder.h"
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

// Everything temporary goes to a folder of the test's, so that it sees what is left there.
class HostToolchain : public testing::Test {
 protected:
  Binary compile(const Config& values = {}, const HostToolchainOptions& options = {}) {
    return make_host(options)->compile(scale_request(scale_kernel(), "x86_64", values));
  }
  CompileError error_of(const KernelTemplate& kernel, const Config& values, const HostToolchainOptions& options = {}) {
    try {
      make_host(options)->compile(scale_request(kernel, "x86_64", values));
    } catch (const CompileError& error) {
      return error;
    }
    ADD_FAILURE() << "it compiled";
    return {"", "", "", "", ""};
  }

  TestFolder temporary_;
  Environment tmpdir_{"TMPDIR", temporary_.path().string()};
};

TEST_F(HostToolchain, makes_a_shared_object_and_leaves_nothing_behind) {
  const auto binary = compile(Config{{"factor", 3}});
  EXPECT_EQ(binary.bytes.substr(1, 3), "ELF");
  EXPECT_EQ(binary.entry, "strop_scale");
  EXPECT_TRUE(contains(binary.bytes, "strop_scale_info"));
  EXPECT_EQ(binary.target, "x86_64");
  EXPECT_EQ(binary.code, code_identity(scale_request(scale_kernel(), "x86_64", Config{{"factor", 3}})).digest());
  EXPECT_GT(binary.compile_ms, 0);
  EXPECT_EQ(binary.resources.registers, -1);
  EXPECT_EQ(binary.resources.static_shared, -1);
  EXPECT_TRUE(temporary_.empty());
}

TEST_F(HostToolchain, gives_the_same_bytes_twice_debug_information_included) {
  for (const std::vector<std::string>& flags : {std::vector<std::string>{}, {"-g"}}) {
    const auto first = compile({}, {.compiler = "", .flags = flags});
    const auto second = compile({}, {.compiler = "", .flags = flags});
    EXPECT_EQ(first.bytes, second.bytes) << flags.size() << " flags";
    EXPECT_FALSE(contains(first.bytes, temporary_.path().string()));
  }
}

TEST_F(HostToolchain, says_who_it_is) {
  const auto toolchain = make_host();
  const auto& compiler = toolchain->compiler();
  EXPECT_TRUE(compiler.name == "g++" || compiler.name == "clang++") << compiler.name;
  EXPECT_TRUE(fs::path(compiler.path).is_absolute()) << compiler.path;
  EXPECT_EQ(compiler.build_id.size(), 64u);
  EXPECT_NE(compiler.version, "unknown");
  EXPECT_EQ(make_host()->compiler().identity(), compiler.identity());
}

TEST_F(HostToolchain, is_another_compiler_with_other_flags_but_not_in_another_language) {
  const auto plain = make_host()->compiler().identity();
  EXPECT_NE(make_host({.compiler = "", .flags = {"-O2"}})->compiler().identity(), plain);
  const Environment german("LANG", "de_DE.UTF-8");
  const Environment all("LC_ALL", "de_DE.UTF-8");
  const Environment language("LANGUAGE", "de");
  EXPECT_EQ(make_host()->compiler().identity(), plain);
}

TEST_F(HostToolchain, is_the_one_that_the_setting_or_the_option_names) {
  const Environment setting("STROP_CXX", "/nowhere/c++");
  EXPECT_NO_THROW(make_host({.compiler = "g++", .flags = {}})->compiler());
  try {
    make_host()->compiler();
    FAIL() << "found a compiler that is not there";
  } catch (const CompileError& error) {
    EXPECT_TRUE(contains(error.what(), "/nowhere/c++") && contains(error.what(), "STROP_CXX")) << error.what();
  }
}

TEST_F(HostToolchain, clang_compiles_it_too) {
  const HostToolchainOptions clang{.compiler = "clang++", .flags = {}};
  try {
    make_host(clang)->compiler();
  } catch (const CompileError&) {
    GTEST_SKIP() << "no clang++ here";
  }
  EXPECT_EQ(make_host(clang)->compiler().name, "clang++");
  EXPECT_EQ(compile({}, clang).bytes, compile({}, clang).bytes);
}

TEST_F(HostToolchain, an_error_has_the_whole_log_the_options_the_source_and_the_compiler) {
  auto kernel = scale_kernel();
  kernel.sources["scale/parts.cuh"] += "int first = nothing_one;\nint second = nothing_two;\n";
  const auto error = error_of(kernel, Config{{"factor", 7}});
  EXPECT_TRUE(contains(error.log(), "nothing_one") && contains(error.log(), "nothing_two")) << error.log();
  EXPECT_TRUE(contains(error.log(), "scale/parts.cuh:")) << error.log();
  EXPECT_TRUE(contains(error.what(), "kernel scale {factor=7, threads=64}") && contains(error.what(), "exit code 1"))
      << error.what();
  EXPECT_TRUE(contains(error.options(), "-ffp-contract=off")) << error.options();
  EXPECT_TRUE(contains(error.source(), "STROP_ENTRY")) << error.source();
  EXPECT_EQ(error.compiler(), make_host()->compiler().identity());
  EXPECT_TRUE(temporary_.empty());
}

TEST_F(HostToolchain, a_name_that_the_defaults_do_not_have_is_named) {
  EXPECT_TRUE(contains(error_of(scale_kernel(), Config{{"no_such_parameter", 1}}).log(), "no_such_parameter"));
}

TEST_F(HostToolchain, a_value_that_its_parameter_can_not_hold_is_refused) {
  EXPECT_TRUE(contains(error_of(scale_kernel(), Config{{"factor", 5'000'000'000}}).log(),
                       "parameter factor can't hold 5000000000"));
  EXPECT_TRUE(contains(error_of(scale_kernel(), Config{{"square", 2}}).log(), "parameter square can't hold 2"));
}

TEST_F(HostToolchain, enumerations_flags_and_extreme_numbers_are_parameters_too) {
  EXPECT_NO_THROW(compile(Config{{"step", 16}, {"square", 1}, {"offset", std::numeric_limits<std::int64_t>::min()}}));
}

TEST_F(HostToolchain, a_different_size_of_the_args_on_the_device_is_an_error) {
  auto kernel = scale_kernel();
  kernel.args_size = 16;
  EXPECT_TRUE(contains(error_of(kernel, {}).log(), "disagree on the size of scale::Args"));
}

TEST_F(HostToolchain, headers_lying_about_are_not_used) {
  const TestFolder decoys;
  for (const char* name : {"stdc-predef.h", "common/types.cuh", "scale/parts.cuh", "cuda_bf16.h"})
    decoys.write(name, "#error a decoy\n");
  const Environment cpath("CPATH", decoys.path().string());
  const Environment plus("CPLUS_INCLUDE_PATH", decoys.path().string());
  const auto before = fs::current_path();
  fs::current_path(decoys.path());
  EXPECT_NO_THROW(compile());
  fs::current_path(before);
}

TEST_F(HostToolchain, variables_that_choose_the_compilers_parts_or_libraries_change_nothing) {
  const TestFolder decoys;
  for (const char* name : {"as", "ld", "collect2", "cc1plus"}) {
    decoys.write(name, "#!/bin/sh\necho a decoy >&2; exit 1\n");
    fs::permissions(decoys.path() / name, fs::perms::owner_all);
  }
  const auto plain = compile().bytes;
  const auto folder = decoys.path().string() + "/";
  for (const char* variable : {"GCC_EXEC_PREFIX", "COMPILER_PATH", "LIBRARY_PATH", "LD_RUN_PATH"}) {
    const Environment changed(variable, folder);
    EXPECT_EQ(compile().bytes, plain) << variable;
  }
}

TEST_F(HostToolchain, works_in_a_process_that_ignores_sigchld) {
  const auto before = std::signal(SIGCHLD, SIG_IGN);
  EXPECT_FALSE(compile().bytes.empty());
  EXPECT_TRUE(contains(error_of(scale_kernel(), Config{{"no_such_parameter", 1}}).log(), "no_such_parameter"));
  std::signal(SIGCHLD, before);
}

// The command lines of all running processes that name `words`.
std::string running_with(const std::string& words) {
  std::string found;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    std::ifstream file(entry.path() / "cmdline", std::ios::binary);
    const std::string line{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    if (contains(line, words)) found += line + '\n';
  }
  return found;
}

TEST_F(HostToolchain, a_compile_that_takes_too_long_is_killed_and_swept_up) {
  auto kernel = scale_kernel();
  kernel.sources["scale/parts.cuh"] += R"(
constexpr long long spin() {
  long long sum = 0;
  for (int i = 0; i < 5000; ++i)
    for (int k = 0; k < 5000; ++k) sum += i ^ k;
  return sum;
}
static_assert(spin() != 0, "");
)";
  const auto begin = std::chrono::steady_clock::now();
  std::string why;
  try {
    make_host({.compiler = "", .flags = {"-fconstexpr-ops-limit=1000000000"}, .timeout_s = 0.5})->compile(scale_request(kernel, "x86_64", {}));
  } catch (const CompileError& error) {
    ADD_FAILURE() << "the source is blamed: " << error.what();
  } catch (const Error& error) {
    why = error.what();
  }
  EXPECT_TRUE(contains(why, "took longer than 0.5 s") && contains(why, "not remembered")) << why;
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
  EXPECT_EQ(running_with(temporary_.path().string()), "");
  EXPECT_TRUE(temporary_.empty());
}

// A compiler that says what `script` does; none of it is about the source.
class BrokenCompiler : public HostToolchain {
 protected:
  std::string failure(const std::string& script) {
    const auto path = (folder_.path() / "c++").string();
    std::ofstream(path) << "#!/bin/sh\ncase \"$1\" in --version) echo 'g++ (Broken) 1.2.3'; exit 0;; esac\n" << script << "\n";
    fs::permissions(path, fs::perms::owner_all);
    HostToolchainOptions options;
    options.compiler = path;
    try {
      compile({}, options);
    } catch (const CompileError&) {
      return "the source";
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing";
  }
  TestFolder folder_;
};

TEST_F(BrokenCompiler, what_says_nothing_about_the_source_is_no_compile_error) {
  for (const char* script :
       {"kill -9 $$", "echo 'g++: fatal error: Killed signal terminated program cc1plus' >&2; exit 1",
        "echo 'cc1plus: out of memory allocating 65536 bytes' >&2; exit 1",
        "echo 'strop-generated.cpp:7:1: fatal error: error writing to /tmp/x.s: No space left on device' >&2; exit 1",
        "echo '/usr/bin/ld: final link failed: No space left on device' >&2; exit 1", "exit 1", "exit 127", "exit 0"}) {
    EXPECT_NE(failure(script).find("says nothing about the kernel"), std::string::npos) << script << ": " << failure(script);
  }
  EXPECT_EQ(failure("echo 'kernel.cuh:3:5: error: no such thing' >&2; exit 1"), "the source");
  EXPECT_EQ(failure("echo 'kernel.cuh:3:5: fatal error: x.h: No such file or directory' >&2; exit 1"), "the source");
  EXPECT_EQ(failure("echo 'ld: k.o: undefined reference to f()' >&2; exit 1"), "the source");
}

TEST_F(HostToolchain, what_a_killed_process_left_is_swept_and_nothing_else) {
  TestFolder folder;
  const Environment tmpdir("TMPDIR", folder.path().string());
  const pid_t dead = fork();
  if (dead == 0) std::_Exit(0);
  int status = 0;
  ASSERT_EQ(waitpid(dead, &status, 0), dead);
  const auto name = [&](long pid) { return folder.path() / ("strop-" + std::to_string(pid) + "-abcdef"); };
  for (const auto& made : {name(dead), name(getpid()), folder.path() / "strop-notes-abcdef", folder.path() / "other"}) fs::create_directory(made);
  EXPECT_EXIT(
      {
        { const TemporaryFolder mine; }
        std::_Exit(0);
      },
      testing::ExitedWithCode(0), "");
  EXPECT_FALSE(fs::exists(name(dead)));
  EXPECT_TRUE(fs::exists(name(getpid())));
  EXPECT_TRUE(fs::exists(folder.path() / "strop-notes-abcdef"));
  EXPECT_TRUE(fs::exists(folder.path() / "other"));
}

// A process in another container that shares /tmp: its number says nothing here, its lock does.
TEST_F(HostToolchain, the_folder_of_a_process_that_can_not_be_seen_is_left_alone_while_it_lives) {
  const pid_t unseen = fork();
  if (unseen == 0) std::_Exit(0);
  int status = 0;
  ASSERT_EQ(waitpid(unseen, &status, 0), unseen);
  const auto theirs = temporary_.path() / ("strop-" + std::to_string(unseen) + "-abcdef");
  fs::create_directory(theirs);
  const auto sweep_and_exit = [] {
    { const TemporaryFolder mine; }
    std::_Exit(0);
  };
  const int lock = open(theirs.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  ASSERT_EQ(flock(lock, LOCK_EX), 0);
  EXPECT_EXIT(sweep_and_exit(), testing::ExitedWithCode(0), "");
  EXPECT_TRUE(fs::exists(theirs));
  close(lock);
  EXPECT_EXIT(sweep_and_exit(), testing::ExitedWithCode(0), "");
  EXPECT_FALSE(fs::exists(theirs)) << "it ended";
}

TEST_F(HostToolchain, a_folder_in_use_is_locked_and_one_that_was_left_is_not) {
  std::string path;
  int lock = -1;
  {
    const TemporaryFolder folder;
    path = folder.path();
    lock = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    EXPECT_EQ(flock(lock, LOCK_EX | LOCK_NB), -1);
    EXPECT_EQ(errno, EWOULDBLOCK);
  }
  EXPECT_EQ(flock(lock, LOCK_EX | LOCK_NB), 0);
  EXPECT_FALSE(fs::exists(path));
  close(lock);
}

TEST_F(HostToolchain, threads_compile_side_by_side) {
  const auto toolchain = make_host();
  std::vector<std::string> bytes(6);
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 6; ++i)
      threads.emplace_back([&, i] {
        bytes[i] = toolchain->compile(scale_request(scale_kernel(), "x86_64", Config{{"factor", i % 2}})).bytes;
      });
  }
  EXPECT_NE(bytes[0], bytes[1]);
  for (int i = 2; i < 6; ++i) EXPECT_EQ(bytes[i], bytes[i % 2]);
}

}  // namespace
}  // namespace strop::jit
