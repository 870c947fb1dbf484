#include "jit/host/temporary_folder.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "src/base/log.h"
#include "src/base/settings.h"
#include "strop/error.h"

namespace strop::jit {

TemporaryFolder::TemporaryFolder() {
  std::string pattern = settings::foreign("TMPDIR").value_or("/tmp") + "/strop-XXXXXX";
  if (mkdtemp(pattern.data()) == nullptr)
    throw Error(fmt::format("no temporary folder at {}: {}; set TMPDIR to a folder that can be written", pattern,
                            std::generic_category().message(errno)));
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code failed;
  std::filesystem::remove_all(path_, failed);
  if (failed) log::warn(fmt::format("temporary folder {} could not be removed: {}", path_, failed.message()));
}

}  // namespace strop::jit
