#include "src/engine/store_place.h"

#include <algorithm>
#include <thread>

#include "src/base/format.h"
#include "src/base/log.h"
#include "src/base/settings.h"

namespace strop::engine {

std::unique_ptr<cache::Store> open_store(const std::string& path) {
  cache::StoreOptions options;
  const auto wanted = path.empty() ? settings::text("cache").value_or("") : path;
  if (wanted != ":memory:") {
    const auto place = cache::find_place(path, true);
    if (!place.note.empty()) log::warn_once("place:" + place.note, place.note);
    options.path = place.path;
  }
  const auto mib = std::optional(settings::number("cache_max_mib"));
  options.max_bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(0, mib.value_or(1024))) << 20;
  return cache::Store::open(options);
}

int compile_threads(int wanted) {
  if (wanted <= 0) wanted = static_cast<int>(settings::number("compile_threads"));
  if (wanted <= 0) wanted = static_cast<int>(std::thread::hardware_concurrency());
  return std::clamp(wanted, 1, 256);
}

}  // namespace strop::engine
