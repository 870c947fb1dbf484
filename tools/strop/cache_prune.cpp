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
#include "tools/strop/prune_rehearsal.h"
#include "tools/strop/terminal.h"
#include "tools/strop/text_table.h"

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

// What a dry run shows of a binary.
std::string binaries_table(const std::vector<cache::StoredBinary>& binaries) {
  TextTable table({"binary", "kernel", "target", "compiler", "made"});
  for (const auto& binary : binaries)
    table.row({binary.code.substr(0, 12), binary.kernel, binary.target, binary.compiler, utc_text(binary.created_at)});
  return table.text();
}

void show(const PruneRehearsal& rehearsal, const cache::Place& place, std::uint64_t before) {
  if (!rehearsal.entries.empty()) {
    std::vector<Entry> entries;
    Machine machine;
    for (const auto& winner : rehearsal.entries)
      entries.push_back({winner, machine.state_of(winner), machine.outdated(winner)});
    print(entries_table(entries));
  }
  if (!rehearsal.binaries.empty()) print(binaries_table(rehearsal.binaries));
  print(fmt::format("{}: {} entries, {} binaries and {} trials would go, and {} of {} be freed\n", place.path,
                    rehearsal.entries.size(), rehearsal.binaries.size(), rehearsal.trials,
                    bytes_text(rehearsal.freed_bytes), bytes_text(before)));
}

void add(Json& json, const PruneRehearsal& rehearsal) {
  json["would_free_bytes"] = rehearsal.freed_bytes;
  json["trials"] = rehearsal.trials;
  json["entries"] = Json::array();
  Machine machine;
  for (const auto& winner : rehearsal.entries) json["entries"].push_back(to_json(winner, machine.state_of(winner)));
  json["binaries"] = Json::array();
  for (const auto& binary : rehearsal.binaries)
    json["binaries"].push_back({{"code", binary.code},
                                {"kernel", binary.kernel},
                                {"target", binary.target},
                                {"compiler", binary.compiler},
                                {"created_at", utc_text(binary.created_at)}});
}

int run(const Session& session, const PruneOptions& options) {
  const auto bound = bound_of(options);
  const bool dry_run = options.destroy.dry_run;
  const auto cache = open_cache(session, dry_run ? Access::look : Access::change);
  std::uint64_t before = 0, freed = 0;
  PruneRehearsal rehearsal;
  if (cache.exists) {
    before = cache.store->stats().file_bytes;
    if (dry_run) {
      rehearsal = rehearse_prune(cache.place.path, bound);
    } else {
      const auto limit = bound > 0 ? fmt::format(", down to {}", bytes_text(bound)) : std::string();
      options.destroy.require_consent(fmt::format("Prune {} ({}){}?", cache.place.path, bytes_text(before), limit));
      freed = cache.store->prune(bound);
    }
  }
  if (session.json) {
    auto json = document("cache prune");
    json["path"] = cache.place.path;
    json["dry_run"] = dry_run;
    json["max_bytes"] = bound;
    json["file_bytes_before"] = before;
    json["freed_bytes"] = freed;
    if (dry_run) add(json, rehearsal);
    print(text_of(json));
  } else if (!cache.exists) {
    note(absent_text(cache.place) + "\n");
  } else if (dry_run) {
    show(rehearsal, cache.place, before);
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
