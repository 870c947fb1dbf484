#pragma once

// Opening the database whatever is found at its path. What is certainly a broken strop cache, or no database at all, is set aside under
// a dated name and made anew; another application's or a later strop's database is never touched, and a file beside it is used.

#include <memory>
#include <string>

#include "cache/tables.h"

namespace strop::cache {

struct Opened {
  std::unique_ptr<Tables> tables;
  std::string path;      // the file in use; empty: memory
  bool writable = true;
  // Another process did not let go of it in time: it will be writable; `tables` are what could be read meanwhile. Open it again to write.
  bool held = false;
  std::string trouble;   // why what is at the path is not served, and what to do; empty: it is
};

// Never throws: one warning a cause, and memory in the end.
Opened open_tables(const StoreOptions& options);
Opened open_memory();
// Renames the database and its journals to `<path>.broken-<time>-<n>`, if it is still broken. Returns the new name; empty: it was not
// broken any more.
// `thorough`: rows that refer to nothing or have another checksum are damage too.
std::string set_aside(const std::string& path, int timeout_ms, bool thorough = false);

}  // namespace strop::cache
