// What a training job does before step 1: one warmup of its shapes. Run it twice: the second time everything is a hit.
// example_warmup [B T D...]

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "strop/strop.h"

int main(int argc, char** argv) {
  const std::int64_t B = argc > 3 ? std::atoll(argv[1]) : 2;
  const std::int64_t T = argc > 3 ? std::atoll(argv[2]) : 256;
  std::vector<std::int64_t> D;
  for (int i = 3; i < argc; ++i) D.push_back(std::atoll(argv[i]));
  if (D.empty()) D = {64};
  const std::vector<std::int64_t> W{4};

  const auto library = strop::Library::open();
  strop::CausalConv1d conv(library);
  const auto report = conv.warmup(B, T, D, W, strop::DType::bf16);
  for (const auto& key : report.keys)
    std::printf("%-22s D=%-5lld %-6s %s %.2f us\n", key.kernel.c_str(), static_cast<long long>(std::get<std::int64_t>(*key.key.find("D"))),
                std::string(name(key.outcome)).c_str(), key.winner->str().c_str(), key.time.median_us);
  std::printf("%.2f s, %d compiles, %d timings\n", report.elapsed_s, report.compiles, report.timings);
  library->seal();  // from here on a compile or a timing is an error that names the key
}
