// strop cache stats: how much there is.

#include <fmt/format.h>

#include <map>

#include "src/base/format.h"
#include "src/base/settings.h"
#include "tools/strop/declaration.h"
#include "tools/strop/entries.h"
#include "tools/strop/json_values.h"
#include "tools/strop/terminal.h"
#include "tools/strop/text_table.h"

namespace strop::cli {
namespace {

struct KernelCount {
  std::int64_t winners = 0;
  std::map<engine::State, std::int64_t> states;
};

int run(const Session& session) {
  const auto cache = open_cache(session, Access::look);
  cache::Stats stats;
  std::map<std::string, KernelCount> kernels;
  if (cache.exists) {
    Machine machine;
    stats = cache.store->stats();
    for (const auto& entry : entries_of(*cache.store, machine)) {
      auto& count = kernels[entry.winner.id.kernel];
      ++count.winners;
      ++count.states[entry.state.state];
    }
  }
  if (session.json) {
    auto json = document("cache stats");
    json["path"] = cache.place.path;
    json["exists"] = cache.exists;
    json["format"] = stats.format;
    json["file_bytes"] = stats.file_bytes;
    json["winners"] = stats.winners;
    json["trials"] = stats.trials;
    json["binaries"] = stats.binaries;
    json["binary_bytes"] = stats.binary_bytes;
    json["environments"] = stats.environments;
    json["kernels"] = Json::array();
    for (auto& [kernel, count] : kernels)
      json["kernels"].push_back({{"kernel", kernel},
                                 {"winners", count.winners},
                                 {"current", count.states[engine::State::current]},
                                 {"suspect", count.states[engine::State::suspect]},
                                 {"foreign", count.states[engine::State::foreign]}});
    print(text_of(json));
    return kDone;
  }
  if (!cache.exists) {
    note(absent_text(cache.place) + "\n");
    return kDone;
  }
  const auto bound = settings::number("cache_max_mib");
  auto text = fmt::format(
      "{}\n  {} on disk (bound: {}), format {}\n  {} winners, {} trials, {} environments\n  {} binaries, {}\n",
      stats.path, bytes_text(stats.file_bytes),
      bound > 0 ? bytes_text(static_cast<std::uint64_t>(bound) << 20) : "none", stats.format, stats.winners,
      stats.trials, stats.environments, stats.binaries, bytes_text(stats.binary_bytes));
  TextTable table({"kernel", ">winners", ">current", ">suspect", ">foreign"});
  for (auto& [kernel, count] : kernels)
    table.row({kernel, std::to_string(count.winners), std::to_string(count.states[engine::State::current]),
               std::to_string(count.states[engine::State::suspect]),
               std::to_string(count.states[engine::State::foreign])});
  if (!table.empty()) text += table.text();
  print(text);
  return kDone;
}

}  // namespace

void add_cache_stats(Declaration& group, const Session& session) {
  group.subcommand("stats", "How many winners, trials and binaries there are, and how large they are")
      .json()
      .run([&session] { return run(session); });
}

}  // namespace strop::cli
