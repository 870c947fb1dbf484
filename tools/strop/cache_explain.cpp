// strop cache explain: why is this a hit or a miss? The nearest entry, and the fields that differ.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <set>

#include "tools/strop/declaration.h"
#include "tools/strop/entries.h"
#include "tools/strop/json_values.h"
#include "tools/strop/terminal.h"
#include "tools/strop/text_table.h"

namespace strop::cli {
namespace {

struct Difference {
  std::string field;
  std::string asked;  // "(not said)" is never a difference
  std::string stored;
};

// An entry beside what was asked for.
struct Match {
  const Entry* entry = nullptr;
  std::vector<Difference> differences;
  double distance = 0;  // first the number of fields that differ, then how far the numbers are apart
};

std::string value_text(const Key::Value& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) return std::to_string(*number);
  return std::get<std::string>(value);
}

Match compare(const Key& asked, const Entry& entry) {
  Match match{&entry, {}, 0};
  for (const auto& [name, value] : asked.fields()) {
    const auto stored = entry.winner.id.key.find(name);
    if (stored && *stored == value) continue;
    match.differences.push_back({name, value_text(value), stored ? value_text(*stored) : "(no such field)"});
    if (stored && std::holds_alternative<std::int64_t>(value) && std::holds_alternative<std::int64_t>(*stored)) {
      match.distance += Key()
                            .add(name, std::get<std::int64_t>(value))
                            .distance(Key().add(name, std::get<std::int64_t>(*stored)))
                            .value_or(64);
    } else {
      match.distance += 64;
    }
  }
  if (entry.outdated)
    match.differences.push_back({"template", "as in this build", "another text or space"});
  else if (entry.state.state == engine::State::foreign)
    match.differences.push_back({"device", "one that is here", entry.winner.environment.device_name});
  return match;
}

std::vector<Match> nearest_first(const Key& asked, const std::vector<Entry>& entries) {
  std::vector<Match> matches;
  matches.reserve(entries.size());
  for (const auto& entry : entries) matches.push_back(compare(asked, entry));
  std::stable_sort(matches.begin(), matches.end(), [](const Match& a, const Match& b) {
    return std::pair(a.differences.size(), a.distance) < std::pair(b.differences.size(), b.distance);
  });
  return matches;
}

bool is_hit(const Match& match) { return match.differences.empty(); }

std::string match_text(const Match& match) {
  const auto& winner = match.entry->winner;
  auto text = fmt::format("{} {} {} [{}]\n", is_hit(match) ? good("hit    ") : warning("nearest"),
                          cache::handle(winner.id), printable(winner.id.kernel), printable(winner.id.key.str()));
  text += fmt::format("        {} {}, {}{}\n", winner.config.str(), time_text(winner.time.median_us),
                      engine::name(match.entry->state.state),
                      match.entry->state.reason.empty() ? "" : ": " + printable(match.entry->state.reason));
  if (!is_hit(match)) {
    TextTable table({"        field", "asked", "stored"});
    for (const auto& difference : match.differences)
      table.row({"        " + difference.field, difference.asked, difference.stored});
    text += table.text();
  }
  return text;
}

Json match_json(const Match& match) {
  auto json = to_json(match.entry->winner, match.entry->state);
  json["hit"] = is_hit(match);
  json["differences"] = Json::array();
  for (const auto& difference : match.differences)
    json["differences"].push_back(
        {{"field", difference.field}, {"asked", difference.asked}, {"stored", difference.stored}});
  return json;
}

// Words are fields, an id, or a kernel's name before them.
struct Asked {
  std::string kernel;
  std::string id;
  Key key;
};

Asked parse_words(const std::vector<std::string>& words) {
  Asked asked;
  std::vector<std::string> fields;
  for (const auto& word : words) {
    if (word.find('=') == std::string::npos && asked.kernel.empty() &&
        word.find_first_not_of("0123456789abcdef") != std::string::npos)
      asked.kernel = word;
    else
      fields.push_back(word);
  }
  if (fields.empty()) return asked;
  const auto text = key_text(fields);
  if (text.find('=') == std::string::npos)
    asked.id = text;
  else
    asked.key = *Key::parse(text);
  return asked;
}

// One match a kernel: the nearest.
std::vector<Match> matches_of(const Asked& asked, const std::vector<Entry>& entries) {
  std::vector<Match> found;
  std::set<std::string> kernels;
  for (auto& match : nearest_first(asked.key, entries)) {
    const auto& id = match.entry->winner.id;
    if (!asked.kernel.empty() && id.kernel != asked.kernel) continue;
    if (!asked.id.empty() && !cache::handle(id).starts_with(asked.id)) continue;
    if (asked.id.empty() && !kernels.insert(id.kernel).second) continue;
    found.push_back(std::move(match));
  }
  return found;
}

int run(const Session& session, const std::vector<std::string>& words) {
  const auto asked = parse_words(words);
  const auto cache = open_cache(session, Access::look);
  if (!cache.exists) throw CacheError(absent_text(cache.place));
  Machine machine;
  const auto entries = entries_of(*cache.store, machine);
  const auto matches = matches_of(asked, entries);
  if (matches.empty())
    throw CacheError(fmt::format("{} has nothing like '{}': no entry of such a kernel or id", cache.place.path,
                                 fmt::join(words, " ")));
  if (session.json) {
    auto json = document("cache explain");
    json["path"] = cache.place.path;
    json["asked"] = to_json(asked.key);
    json["matches"] = Json::array();
    for (const auto& match : matches) json["matches"].push_back(match_json(match));
    print(text_of(json));
    return kDone;
  }
  std::string text;
  for (const auto& match : matches) text += match_text(match);
  print(text);
  return kDone;
}

}  // namespace

void add_cache_explain(Declaration& group, const Session& session) {
  auto explain =
      group.subcommand("explain", "Why a key is a hit or a miss: the nearest entry of each kernel, and what differs");
  auto words = std::make_shared<std::vector<std::string>>();
  explain.arguments("KEY", *words,
                    "a kernel's name if you like, and an id or fields: causal_conv1d_fwd B=16 T=8192 D=2048");
  explain.json().run([words, &session] { return run(session, *words); });
}

}  // namespace strop::cli
