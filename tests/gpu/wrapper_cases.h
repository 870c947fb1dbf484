#pragma once

// The conformance kernels of the dialect (tests/gpu/wrappers), each with its launch, its inputs and the result that
// both sides must give: every wrapper's host twin is checked against it everywhere, the CUDA side on a GPU.

#include <cstdint>
#include <string>
#include <vector>

#include "strop/kernel.h"

namespace strop::conformance {

// Twin of the device's Args.
struct Args {
  const void* in;
  void* out;
  std::uint32_t count;
};

struct WrapperCase {
  std::string name;
  std::string file;      // below tests/gpu: "wrappers/vote.cuh"
  std::string function;  // without namespace
  std::string params;
  Config config;  // `threads` is always in it
  Dim3 grid;
  unsigned dynamic_shared = 0;
  int needs_sm = 80;              // oldest chip with the instruction
  bool needs_exact_chip = false;  // instructions of sm_90a only
  std::vector<std::uint32_t> in;
  std::vector<std::uint32_t> initial;  // of `out`
  std::uint32_t count = 0;
  std::vector<std::uint32_t> expected;
  // Words are fp32 and may differ by `relative * |expected| + absolute`; 0 and 0: bit for bit.
  double relative = 0, absolute = 0;
};

const std::vector<WrapperCase>& wrapper_cases();

// The template with its sources read from the test folder.
KernelTemplate wrapper_template(const WrapperCase& c);
// Empty when `out` is as expected; else what differs first.
std::string difference(const WrapperCase& c, const std::vector<std::uint32_t>& out);

// Parts of the table.
std::vector<WrapperCase> sync_cases();
std::vector<WrapperCase> copy_cases();
std::vector<WrapperCase> memory_cases();
std::vector<WrapperCase> matrix_cases();
std::vector<WrapperCase> number_cases();

// Seeded words below `limit`.
std::vector<std::uint32_t> random_words(std::size_t n, std::uint32_t limit, std::uint32_t seed);
std::uint32_t bits_of(float v);
float float_of(std::uint32_t bits);

}  // namespace strop::conformance
