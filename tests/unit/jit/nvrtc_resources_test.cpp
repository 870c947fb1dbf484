// Registers, spills and shared memory without a GPU: from ptxas's words and from cubins.

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "jit/nvrtc/elf.h"
#include "jit/nvrtc/ptxas_log.h"
#include "tests/support/test_folder.h"

namespace strop::jit {
namespace {

TEST(PtxasLog, is_read_for_the_entry_and_what_it_calls) {
  const auto resources = parse_ptxas(
      "strop-generated.cu(3): warning #1: 12 registers, 7 bytes smem\n"
      "ptxas info    : 8 bytes gmem\n"
      "ptxas info    : Compiling entry function 'strop_entry' for 'sm_90'\n"
      "ptxas info    : Function properties for strop_entry\n"
      "ptxas         .     632 bytes stack frame, 2152 bytes spill stores, 2992 bytes spill loads\n"
      "ptxas info    : Used 161 registers, used 1 barriers, 632 bytes cumulative stack size, 4096 bytes smem\n"
      "ptxas info    : Compile time = 3.753 ms\n"
      "ptxas info    : Function properties for _Z4slowPfi\n"
      "ptxas         .     16 bytes stack frame, 8 bytes spill stores, 4 bytes spill loads\n",
      "strop_entry");
  EXPECT_EQ(resources.registers, 161);
  EXPECT_EQ(resources.stack_bytes, 632);
  EXPECT_EQ(resources.spill_store_bytes, 2160);
  EXPECT_EQ(resources.spill_load_bytes, 2996);
  EXPECT_EQ(resources.static_shared, 4096);
}

TEST(PtxasLog, that_names_no_shared_memory_means_none) {
  const auto resources = parse_ptxas(
      "ptxas info    : Compiling entry function 'strop_entry' for 'sm_90'\nptxas info    : Used 8 registers, used 0 "
      "barriers\n",
      "strop_entry");
  EXPECT_EQ(resources.registers, 8);
  EXPECT_EQ(resources.static_shared, 0);
}

TEST(PtxasLog, of_another_entry_or_none_leaves_all_unknown) {
  for (const char* log :
       {"", "ptxas info    : Compiling entry function 'other' for 'sm_90'\nptxas info    : Used 8 registers\n"}) {
    const auto resources = parse_ptxas(log, "strop_entry");
    EXPECT_EQ(resources.registers, -1);
    EXPECT_EQ(resources.static_shared, -1);
    EXPECT_EQ(resources.spill_store_bytes, -1);
  }
}

TEST(Cubin, that_is_cut_or_damaged_gives_no_answers_and_no_fault) {
  EXPECT_FALSE(read_cubin("", "strop_entry", "sm_90").registers);
  EXPECT_FALSE(read_cubin(std::string("\x7f") + "ELF", "strop_entry", "sm_90").registers);
  std::ifstream file("/proc/self/exe", std::ios::binary);
  std::string elf{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  for (const std::size_t size : {std::size_t{60}, std::size_t{64}, std::size_t{100}, elf.size() / 2})
    EXPECT_FALSE(read_cubin(elf.substr(0, size), "strop_entry", "sm_90").registers) << size;
  std::srand(1);
  for (int i = 0; i < 200; ++i) {
    auto damaged = elf;
    for (int k = 0; k < 8; ++k) damaged[static_cast<std::size_t>(std::rand()) % 64] = static_cast<char>(std::rand());
    read_cubin(damaged, "strop_entry", "sm_90");
  }
}

TEST(BuildId, is_empty_for_what_is_no_elf_file) {
  const test::TestFolder folder;
  EXPECT_EQ(gnu_build_id(folder.write(
                "text", "not an ELF file, but long enough to be taken for a header of one, if not looked at\n")),
            "");
  EXPECT_EQ(gnu_build_id(folder.write("empty", "")), "");
  EXPECT_EQ(gnu_build_id((folder.path() / "missing").string()), "");
}

TEST(LibraryIdentity, is_the_build_id_or_of_the_bytes) {
  const test::TestFolder folder;
  EXPECT_EQ(library_identity("/proc/self/exe"), gnu_build_id("/proc/self/exe"));
  EXPECT_FALSE(gnu_build_id("/proc/self/exe").empty());
  const auto one = library_identity(folder.write("one", "some bytes"));
  EXPECT_EQ(one, library_identity(folder.write("copy", "some bytes")));
  EXPECT_NE(one, library_identity(folder.write("other", "other bytes")));
  EXPECT_EQ(library_identity((folder.path() / "missing").string()), "");
}

}  // namespace
}  // namespace strop::jit
