#pragma once

// What must be known of the file system that a database is on. Thread-safe; never throws.

#include <string>

namespace strop::cache {

// True when the file, or the nearest folder above it that exists, is on a file system shared between hosts (NFS, Lustre, CIFS,
// Ceph, ...), where a WAL database corrupts.
bool on_network_file_system(const std::string& path);

}  // namespace strop::cache
