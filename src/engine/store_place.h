#pragma once

// From options and settings to an open store and a number of compilers; shared by the library and by compile_only.

#include <memory>
#include <string>

#include "cache/store.h"

namespace strop::engine {

// `path` as in Options::cache_path. Never throws for a bad place: warns once and keeps everything in memory.
std::unique_ptr<cache::Store> open_store(const std::string& path);
int compile_threads(int wanted);  // 0: the setting, then one a core

}  // namespace strop::engine
