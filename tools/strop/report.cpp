#include "tools/strop/report.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/strop/entries.h"
#include "tools/strop/terminal.h"
#include "tools/strop/text_table.h"

namespace strop::cli {
namespace {

// "vec=4 -> vec=8, 12.1 us -> 11.0 us (-9.1 %)" for a winner that was timed again.
std::string change_of(const KeyReport& key) {
  if (!key.previous || key.previous_us <= 0) return {};
  const auto times = fmt::format("{} -> {} ({:+.1f} %)", time_text(key.previous_us), time_text(key.time.median_us),
                                 100 * (key.time.median_us / key.previous_us - 1));
  if (key.winner && *key.previous == *key.winner) return "same winner, " + times;
  return fmt::format("was {}, {}", key.previous->str(), times);
}

std::string notes_of(const Report& report) {
  std::string text;
  for (const auto& key : report.keys) {
    const auto name = printable(fmt::format("{} [{}]", key.kernel, key.key.str()));
    const auto note = printable(key.note);
    if (key.outcome == Outcome::failed)
      text += fmt::format("{}{}: {}\n", bad("failed "), name, note);
    else if (const auto change = change_of(key); !change.empty())
      text += fmt::format("{}{}: {}\n", warning("revalidated "), name, change);
    else if (!key.note.empty())
      text += fmt::format("{}{}: {}\n", warning("note "), name, note);
  }
  return text;
}

}  // namespace

std::string report_text(const Report& report) {
  TextTable table({"kernel", "key", "outcome", ">candidates", ">rejected", "winner", ">median", ">spread"});
  for (const auto& key : report.keys) {
    table.row({key.kernel, key.key.str(), std::string(name(key.outcome)), std::to_string(key.candidates),
               std::to_string(key.rejected), key.winner ? key.winner->str() : "-", time_text(key.time.median_us),
               time_text(key.time.spread_us)},
              key.outcome == Outcome::failed ? TextTable::Style(bad) : TextTable::Style());
  }
  return table.text() + notes_of(report);
}

std::string summary_of(const Report& report) {
  const auto count = [&](Outcome outcome) {
    return std::count_if(report.keys.begin(), report.keys.end(),
                         [&](const KeyReport& key) { return key.outcome == outcome; });
  };
  std::string what;
  for (const auto outcome : {Outcome::tuned, Outcome::hit, Outcome::revalidated, Outcome::failed}) {
    if (const auto n = count(outcome); n > 0)
      what += fmt::format("{}{} {}", what.empty() ? "" : ", ", n, name(outcome));
  }
  return fmt::format("{} in {:.3f} s: {} compiles, {} timings on {}", what.empty() ? "nothing to do" : what,
                     report.elapsed_s, report.compiles, report.timings, report.device);
}

void add_report(Json& json, const Report& report) {
  json["elapsed_s"] = report.elapsed_s;
  json["device"] = report.device;
  json["cache"] = report.cache_path;
  json["compiles"] = report.compiles;
  json["timings"] = report.timings;
  json["keys"] = Json::array();
  for (const auto& key : report.keys) json["keys"].push_back(to_json(key));
}

}  // namespace strop::cli
