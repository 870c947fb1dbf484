// strop cache show KEY: every candidate of an entry, the winner marked.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>

#include "src/base/format.h"
#include "tools/strop/declaration.h"
#include "tools/strop/entries.h"
#include "tools/strop/json_values.h"
#include "tools/strop/terminal.h"
#include "tools/strop/text_table.h"

namespace strop::cli {
namespace {

// The fastest first, then the rejected ones by verdict.
std::vector<Trial> trials_of(cache::Store& store, const Entry& entry) {
  std::vector<Trial> trials;
  for (auto& stored : store.trials_of(entry.winner.id)) trials.push_back(std::move(stored.trial));
  const auto rank = [](const Trial& trial) {
    return std::tuple(trial.verdict != Verdict::ok, trial.time.samples == 0, trial.time.median_us,
                      static_cast<int>(trial.verdict));
  };
  std::stable_sort(trials.begin(), trials.end(), [&](const Trial& a, const Trial& b) { return rank(a) < rank(b); });
  return trials;
}

std::string known(int value) { return value >= 0 ? std::to_string(value) : "-"; }

std::string spills_of(const Resources& resources) {
  if (resources.spill_store_bytes < 0) return "-";
  return fmt::format("{}/{}", resources.spill_store_bytes, std::max(0, resources.spill_load_bytes));
}

std::string shared_of(const Trial& trial) {
  return std::to_string(std::max(0, trial.resources.static_shared) + trial.dynamic_shared);
}

std::string trials_table(const std::vector<Trial>& trials, const Config& winner) {
  TextTable table({"", "config", ">median", ">spread", ">regs", ">spills", ">shared", "verdict", "detail"});
  for (const auto& trial : trials) {
    const bool won = trial.config == winner;
    const auto detail = trial.detail.substr(0, trial.detail.find('\n'));
    table.row({won ? "*" : "", trial.config.str(), time_text(trial.time.median_us), time_text(trial.time.spread_us),
               known(trial.resources.registers), spills_of(trial.resources), shared_of(trial),
               std::string(name(trial.verdict)), detail.size() > 80 ? detail.substr(0, 77) + "..." : detail},
              won                            ? TextTable::Style(good)
              : trial.verdict == Verdict::ok ? TextTable::Style()
                                             : TextTable::Style(dim));
  }
  return table.text();
}

std::string entry_text(const Entry& entry, const std::vector<Trial>& trials) {
  const auto& winner = entry.winner;
  std::string text =
      bold(printable(
          fmt::format("{}  {} [{}]", cache::handle(winner.id), winner.id.kernel, winner.id.key.str()))) +
      "\n";
  const auto line = [&](std::string_view label, const std::string& value) {
    if (!value.empty()) text += fmt::format("  {:<12} {}\n", label, printable(value));
  };
  line("winner", fmt::format("{}, {}", winner.config.str(), time_text(winner.time.median_us)));
  if (winner.limit_us > 0)
    line("limit", fmt::format("{} to move its bytes: {:.0f} % of it", time_text(winner.limit_us),
                              100 * winner.limit_us / winner.time.median_us));
  line("why", winner.why);
  line("flags", winner.flags);
  line("state", fmt::format("{}{}{}", engine::name(entry.state.state), entry.state.reason.empty() ? "" : ": ",
                            entry.state.reason));
  line("device", winner.environment.device_name);
  line("driver", winner.environment.driver);
  line("compiler", winner.environment.compiler);
  line("tuned", utc_text(winner.tuned_at));
  if (winner.revalidated_at > 0) line("revalidated", utc_text(winner.revalidated_at));
  line("candidates", fmt::format("{}, {} of them rejected", winner.candidates, winner.rejected));
  return text + (trials.empty() ? std::string("  no trials are stored\n") : trials_table(trials, winner.config));
}

int run(const Session& session, const std::vector<std::string>& words) {
  const auto wanted = key_text(words);
  const auto cache = open_cache(session, Access::look);
  Machine machine;
  std::vector<Entry> entries;
  if (cache.exists) entries = find_entries(*cache.store, machine, words);
  if (entries.empty())
    throw CacheError(cache.exists ? fmt::format("no entry of {} is or has '{}'; `strop cache list` shows them all",
                                                cache.place.path, wanted)
                                  : absent_text(cache.place));
  auto json = document("cache show");
  json["path"] = cache.place.path;
  json["entries"] = Json::array();
  std::string text;
  for (const auto& entry : entries) {
    const auto trials = trials_of(*cache.store, entry);
    auto shown = to_json(entry.winner, entry.state);
    shown["trials"] = Json::array();
    for (const auto& trial : trials) {
      shown["trials"].push_back(to_json(trial));
      shown["trials"].back()["won"] = trial.config == entry.winner.config;
    }
    json["entries"].push_back(std::move(shown));
    text += (text.empty() ? "" : "\n") + entry_text(entry, trials);
  }
  print(session.json ? text_of(json) : text);
  return kDone;
}

}  // namespace

void add_cache_show(Declaration& group, const Session& session) {
  auto show = group.subcommand("show", "Every candidate of an entry: time, registers, spills, shared memory, verdict");
  auto words = std::make_shared<std::vector<std::string>>();
  show.arguments("KEY", *words, "an entry's id, or fields of its key: D=2048 W=4");
  show.json().run([words, &session] { return run(session, *words); });
}

}  // namespace strop::cli
