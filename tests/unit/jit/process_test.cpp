// Running a program.

#include "jit/host/process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <iterator>

#include "tests/support/test_folder.h"

namespace strop::jit {
namespace {

class ProcessTest : public testing::Test {
 protected:
  Process process(std::vector<std::string> arguments) const {
    Process process;
    process.arguments = std::move(arguments);
    process.output = (folder_.path() / "output").string();
    return process;
  }
  std::string output() const {
    std::ifstream file(folder_.path() / "output");
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  test::TestFolder folder_;
};

TEST_F(ProcessTest, both_streams_go_to_the_file_and_the_exit_code_comes_back) {
  const auto result = run_process(process({"sh", "-c", "echo out; echo err >&2; exit 3"}));
  EXPECT_TRUE(result.started && result.failed());
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(output(), "out\nerr\n");
}

TEST_F(ProcessTest, arguments_are_never_words_of_a_shell) {
  run_process(process({"printf", "%s", "a b; $(touch x) 'c' *"}));
  EXPECT_EQ(output(), "a b; $(touch x) 'c' *");
}

TEST_F(ProcessTest, a_program_that_is_not_there_is_told) {
  const auto result = run_process(process({"/nowhere/compiler"}));
  EXPECT_FALSE(result.started);
  EXPECT_NE(result.error.find("No such file"), std::string::npos) << result.error;
}

TEST_F(ProcessTest, a_signal_is_an_exit_code_over_128) {
  EXPECT_EQ(run_process(process({"sh", "-c", "kill -SEGV $$"})).exit_code, 128 + SIGSEGV);
}

TEST_F(ProcessTest, a_time_out_kills_the_program_and_what_it_started) {
  // The grandchild holds the pipe's end: reading it to its end means that it is gone.
  const auto fifo = (folder_.path() / "fifo").string();
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  const int reader = ::open(fifo.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  auto slow = process({"sh", "-c", "(exec >\"$FIFO\"; echo x; sleep 60) & wait"});
  slow.environment = {{"FIFO", fifo}};
  slow.timeout_s = 0.3;
  const auto result = run_process(slow);
  EXPECT_TRUE(result.timed_out && result.failed());
  EXPECT_EQ(result.exit_code, 128 + SIGKILL);
  char letters[8];
  EXPECT_EQ(::read(reader, letters, sizeof letters), 2);
  EXPECT_EQ(::read(reader, letters, sizeof letters), 0) << "the grandchild is still there";
  ::close(reader);
}

TEST_F(ProcessTest, the_environment_is_changed_as_asked_and_kept_otherwise) {
  const test::Environment kept("STROP_TEST_KEPT", "kept");
  const test::Environment dropped("STROP_TEST_DROPPED", "dropped");
  const test::Environment replaced("STROP_TEST_REPLACED", "old");
  auto asked = process({"sh", "-c", "echo $STROP_TEST_KEPT,$STROP_TEST_DROPPED,$STROP_TEST_REPLACED"});
  asked.environment = {{"STROP_TEST_DROPPED", std::nullopt}, {"STROP_TEST_REPLACED", "new"}};
  run_process(asked);
  EXPECT_EQ(output(), "kept,,new\n");
}

TEST_F(ProcessTest, open_files_are_not_inherited) {
  const int file = ::open("/dev/null", O_RDONLY);  // no O_CLOEXEC
  ASSERT_GE(file, 0);
  run_process(process({"sh", "-c", "test -e /proc/$$/fd/" + std::to_string(file) + " && echo inherited"}));
  EXPECT_EQ(output(), "");
  ::close(file);
}

TEST_F(ProcessTest, works_in_a_process_that_ignores_sigchld) {
  const auto before = std::signal(SIGCHLD, SIG_IGN);
  const auto result = run_process(process({"sh", "-c", "sh -c 'exit 0' && echo fine"}));
  std::signal(SIGCHLD, before);
  EXPECT_TRUE(result.started);
  EXPECT_FALSE(result.exit_code.has_value()) << "the kernel kept it to itself";
  EXPECT_FALSE(result.failed());
  EXPECT_EQ(output(), "fine\n");
}

}  // namespace
}  // namespace strop::jit
