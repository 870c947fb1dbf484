#pragma once

// The format of the database, version 1; docs/cache_format.md describes every column. Table names carry the version, so that two
// versions could live in one file.

#include "cache/sqlite.h"

namespace strop::cache {

inline constexpr std::int64_t kApplicationId = 0x53545250;  // "STRP"
inline constexpr std::int64_t kFormat = 1;

enum class Kind {
  empty,    // a new file
  ours,     // this format
  newer,    // a later strop's: never written to
  foreign,  // another application's
};
Kind kind_of(Database& database);
void create_schema(Database& database);  // inside a transaction

}  // namespace strop::cache
