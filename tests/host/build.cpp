#include "tests/host/build.h"

namespace strop::host_test {

jit::Binary build(const KernelTemplate& kernel, const Config& config, const std::vector<std::string>& flags) {
  const auto toolchain = jit::make_host({.flags = flags});
  return toolchain->compile({.kernel = &kernel, .constants = {}, .config = config, .target = "x86_64"});
}

}  // namespace strop::host_test
