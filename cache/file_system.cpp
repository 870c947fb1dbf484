#include "cache/file_system.h"

#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <filesystem>

namespace strop::cache {
namespace {

// f_type of statfs(2): NFS, SMB, SMB2, CIFS, Ceph, Lustre, GPFS, AFS, 9P, FUSE (sshfs, s3fs, ...), BeeGFS, OrangeFS, Coda.
constexpr std::array<unsigned long, 13> kShared{0x6969,     0x517b,     0xfe534d42, 0xff534d42, 0x00c36400, 0x0bd00bd0, 0x47504653,
                                                0x5346414f, 0x01021997, 0x65735546, 0x19830326, 0x20030528, 0x73757245};

}  // namespace

bool on_network_file_system(const std::string& path) {
  std::filesystem::path at = path;
  struct statfs facts {};
  while (statfs(at.empty() ? "." : at.c_str(), &facts) != 0) {
    if (at.empty() || at == at.root_path()) return false;
    at = at.parent_path();
  }
  return std::find(kShared.begin(), kShared.end(), static_cast<unsigned long>(facts.f_type) & 0xffffffffUL) != kShared.end();
}

}  // namespace strop::cache
