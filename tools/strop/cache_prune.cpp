// strop cache prune: give back space.

#include <fmt/format.h>

#include <memory>
#include <optional>

#include "src/base/format.h"
#include "src/base/settings.h"
#include "tools/strop/arguments.h"
#include "tools/strop/declaration.h"
#include "tools/strop/destroy.h"
#include "tools/strop/entries.h"
#include "tools/strop/json_values.h"
#include "tools/strop/terminal.h"

namespace strop::cli {
namespace {

struct PruneOptions {
  std::string max_size;
  Destroy destroy;
};

std::uint64_t bound_of(const PruneOptions& options) {
  if (!options.max_size.empty()) return parse_bytes("--max-size", options.max_size);
  const auto mib = settings::number("cache_max_mib");
  return mib > 0 ? static_cast<std::uint64_t>(mib) << 20 : 0;
}

int run(const Session& session, const PruneOptions& options) {
  const auto bound = bound_of(options);
  const auto cache = open_cache(session, options.destroy.dry_run ? Access::look : Access::change);
  std::uint64_t before = 0, freed = 0;
  if (cache.exists) {
    before = cache.store->stats().file_bytes;
    if (!options.destroy.dry_run) {
      const auto limit = bound > 0 ? fmt::format(", down to {}", bytes_text(bound)) : std::string();
      if (!options.destroy.agreed(fmt::format("Prune {} ({}){}?", cache.place.path, bytes_text(before), limit)))
        return kFailed;
      freed = cache.store->prune(bound);
    }
  }
  if (session.json) {
    auto json = document("cache prune");
    json["path"] = cache.place.path;
    json["dry_run"] = options.destroy.dry_run;
    json["max_bytes"] = bound;
    json["file_bytes_before"] = before;
    json["freed_bytes"] = freed;
    print(text_of(json));
  } else if (!cache.exists) {
    note(absent_text(cache.place) + "\n");
  } else if (options.destroy.dry_run) {
    const auto over = bound > 0 && before > bound ? before - bound : 0;
    print(fmt::format("{}: {}, {} over the bound; what no entry refers to would go too\n", cache.place.path,
                      bytes_text(before), bytes_text(over)));
  } else {
    print(fmt::format("{}: {} freed of {}\n", cache.place.path, bytes_text(freed), bytes_text(before)));
  }
  return kDone;
}

}  // namespace

void add_cache_prune(Declaration& group, const Session& session) {
  auto prune = group.subcommand("prune", "Drop what nothing refers to, apply the size bound, and shrink the file");
  auto options = std::make_shared<PruneOptions>();
  prune.option("--max-size", options->max_size,
               "size bound, least recently used first: 512M, 2GiB (else STROP_CACHE_MAX_MIB)", "SIZE");
  options->destroy.declare(prune);
  prune.json().run([options, &session] { return run(session, *options); });
}

}  // namespace strop::cli
