// What NVRTC made of the convolution's templates, where its speed hangs on it: all loads of a forward before its arithmetic, the stores of
// a backward's loop in one piece of straight code, and nothing spilled. Needs NVRTC and nvdisasm, no GPU.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "jit/toolchain.h"
#include "src/engine/arch_facts.h"
#include "src/ops/causal_conv1d/op.h"
#include "strop/error.h"
#include "tests/support/test_folder.h"

namespace strop::ops {
namespace {

struct Class {
  std::string name;
  CausalConv1dProblem problem;
};
void PrintTo(const Class& c, std::ostream* out) { *out << c.name; }

CausalConv1dProblem large() { return conv_problem({16, 8192, 2048, 4}); }

// The classes of code that training meets.
std::vector<Class> classes() {
  std::vector<Class> all{{"dense", large()}, {"ragged", large()}, {"packed", large()}, {"fused_qkv", large()},
                         {"fp16", large()},  {"bf16_weight", large()}, {"bias", large()}};
  all[1].problem.T = 8191;
  all[2].problem.B = 1;
  all[2].problem.T = std::int64_t{16} * 8192;
  all[2].problem.packed_sequences = 60;
  all[3].problem.x_strides = {std::int64_t{8192} * 6144, 6144, 1};
  all[4].problem.x_type = DType::fp16;
  all[5].problem.weight_type = DType::bf16;
  all[6].problem.bias = true;
  return all;
}

class MachineCode : public testing::TestWithParam<Class> {
 protected:
  void SetUp() override {
    if (std::string(STROP_NVDISASM).empty()) GTEST_SKIP() << "no nvdisasm: tools/setup.sh --tests installs it";
    try {
      toolchain_->compiler();
    } catch (const CompileError& error) {
      GTEST_SKIP() << error.what();
    }
  }

  // Compiles the kernel's config of this class for an H200, expects that nothing spills, and gives the opcodes line by line; a label is
  // "label".
  std::vector<std::string> opcodes(const std::string& kernel, const Config& config) {
    for (const auto& item : conv_items(GetParam().problem)) {
      if (item.kernel->source.name != kernel) continue;
      const auto constants = item.problem->constants();
      EXPECT_EQ(item.kernel->space.why_illegal(config, constants, engine::arch_facts("sm_90")), "") << config.str();
      const auto binary = toolchain_->compile({&item.kernel->source, constants, item.kernel->space.compiled_part(config), "sm_90"});
      EXPECT_EQ(binary.resources.spill_store_bytes, 0) << config.str();
      return disassembled(binary.bytes);
    }
    ADD_FAILURE() << kernel << " is no kernel of this problem";
    return {};
  }

  std::vector<std::string> disassembled(const std::string& cubin) {
    const auto file = folder_.write("kernel.cubin", cubin), listing = (folder_.path() / "kernel.sass").string();
    const auto command = std::string(STROP_NVDISASM) + " -c '" + file + "' > '" + listing + "'";
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
    std::ifstream in(listing);
    std::vector<std::string> opcodes;
    for (std::string line; std::getline(in, line);) {
      std::istringstream words(line);
      std::string word;
      words >> word;
      if (word.starts_with(".L")) opcodes.emplace_back("label");
      if (!word.starts_with("/*")) continue;
      while (words >> word && (word.starts_with("@") || word == "{")) {
      }
      opcodes.push_back(word);
    }
    return opcodes;
  }

  std::unique_ptr<jit::Toolchain> toolchain_ = jit::make_nvrtc();
  test::TestFolder folder_;
};

bool is_arithmetic(const std::string& opcode) {
  return opcode.starts_with("FFMA") || opcode.starts_with("FMUL") || opcode.starts_with("FADD") || opcode.starts_with("MUFU");
}

// The most opcodes that begin with `wanted` and no opcode in between for which `ends` holds.
template <class Ends>
int longest_run(const std::vector<std::string>& opcodes, const std::string& wanted, const Ends& ends) {
  int longest = 0, run = 0;
  for (const auto& opcode : opcodes) {
    if (ends(opcode)) run = 0;
    else if (opcode.starts_with(wanted)) longest = std::max(longest, ++run);
  }
  return longest;
}

TEST_P(MachineCode, OfTheForwardIssuesAllLoadsBeforeAnyArithmetic) {
  for (const std::int64_t vec : {4, 2}) {
    const Config config{{"vec", vec}, {"rows", 16}, {"threads", 128}, {"min_blocks", 4}, {"lanes", 32}};
    const auto code = opcodes("causal_conv1d_fwd", config);
    // Vectors of four win wherever the layout allows them; of the others ptxas keeps two loads of the rows before back in one class.
    EXPECT_GE(longest_run(code, "LDG", is_arithmetic), vec == 4 ? 16 + 3 : 16) << config.str();
  }
}

// A branch around a store takes the arithmetic before it along, and what stands between two branches is scheduled by itself.
TEST_P(MachineCode, OfTheBackwardHasTheStoresOfAGroupInOnePiece) {
  const auto ends = [](const std::string& opcode) {
    return opcode == "label" || opcode.starts_with("BRA") || opcode.starts_with("BSSY") || opcode.starts_with("BSYNC");
  };
  for (const auto& [vec, blocks] : {std::pair(4, 3), std::pair(2, 4)}) {
    const Config config{{"staging", 2}, {"vec", vec}, {"strips", 4}, {"threads", 128}, {"min_blocks", blocks}};
    EXPECT_GE(longest_run(opcodes("causal_conv1d_bwd", config), "STG", ends), 4) << config.str();
  }
}

INSTANTIATE_TEST_SUITE_P(OfAClass, MachineCode, testing::ValuesIn(classes()), [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace strop::ops
