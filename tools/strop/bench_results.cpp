#include "tools/strop/bench_results.h"

#include <fmt/format.h>

#include <fstream>

#include "strop/error.h"

namespace strop::cli {
namespace {

// Times a rival's document may leave out are 0, never a guess.
double number(const Json& json, const char* name) {
  const auto at = json.find(name);
  return at != json.end() && at->is_number() ? at->get<double>() : 0;
}

CallResult own(const Json& json, const char* ceiling) {
  CallResult result{json.at("median_us").get<double>(),
                    number(json, "spread_us"),
                    number(json, "host_us"),
                    number(json, "share_of_limit"),
                    0,
                    number(json, "ratio")};
  const double ceiling_us = number(json, ceiling);
  if (ceiling_us > 0) result.ceiling = result.share * result.median_us / ceiling_us;
  return result;
}

// A rival moves the same bytes, so its share follows from ours and the times.
std::optional<CallResult> rivals(const Json& json, const char* direction, const CallResult& ours, double ceiling_us) {
  const auto at = json.find(direction);
  if (at == json.end() || !at->is_object()) return std::nullopt;
  const double median_us = at->at("median_us").get<double>();
  if (median_us <= 0) throw Error(fmt::format("a time of {} us is none", median_us));
  return CallResult{median_us,
                    number(*at, "spread_us"),
                    number(*at, "host_us"),
                    ours.share * ours.median_us / median_us,
                    0,
                    ceiling_us > 0 ? median_us / ceiling_us : 0};
}

void add_rival(BenchResults& results, const Json& document, const Json& rival) {
  const auto name = rival.at("name").get<std::string>();
  if (const auto why = rival.value("absent", ""); !why.empty()) {
    results.notes.push_back(fmt::format("{} was not measured: {}", name, why));
    return;
  }
  results.contenders.push_back(name);
  if (const auto version = rival.value("version", ""); !version.empty()) results.versions.emplace_back(name, version);
  const auto& measured = rival.at("rows");
  for (std::size_t i = 0; i < results.rows.size(); ++i) {
    auto& row = results.rows[i];
    const auto at = measured.find(row.name);
    std::optional<CallResult> forward, backward;
    if (at != measured.end()) {
      const auto& ours = document.at("rows").at(i);
      forward = rivals(*at, "forward", *row.forward.front(), number(ours.at("forward"), "copy_us"));
      backward = rivals(*at, "backward", *row.backward.front(), number(ours.at("backward"), "add_us"));
      if (const auto error = at->value("error", ""); !error.empty())
        results.notes.push_back(fmt::format("{}, {}: {}", name, row.name, error));
    }
    row.forward.push_back(forward);
    row.backward.push_back(backward);
  }
}

BenchResults parse(const Json& document) {
  const auto& ours = document.contains("strop") ? document.at("strop") : document;
  if (ours.at("schema") != kJsonSchema) throw Error(fmt::format("\"schema\" is not {}", kJsonSchema));
  BenchResults results;
  results.device = ours.at("device").get<std::string>();
  results.date = ours.at("date").get<std::string>();
  results.limit_gbps = number(ours, "limit_gbps");
  results.contenders.emplace_back("strop");
  for (const auto* from : {&ours, &document}) {
    if (from == &document && &ours == &document) break;
    if (!from->contains("versions")) continue;
    for (const auto& [name, version] : from->at("versions").items())
      results.versions.emplace_back(name, version.get<std::string>());
  }
  for (const auto& row : ours.at("rows"))
    results.rows.push_back(
        {row.at("name").get<std::string>(), {own(row.at("forward"), "copy_us")}, {own(row.at("backward"), "add_us")}});
  if (document.contains("rivals")) {
    for (const auto& rival : document.at("rivals")) add_rival(results, ours, rival);
  }
  return results;
}

}  // namespace

BenchResults results_of(const Json& document) {
  try {
    return parse(document);
  } catch (const Json::exception& error) {
    throw Error(fmt::format("no results of `strop bench --json` or of rivals.py: {}", error.what()));
  }
}

BenchResults read_results(const std::string& file) {
  std::ifstream in(file);
  if (!in) throw Error(fmt::format("{} can't be read", file));
  const auto document = Json::parse(in, nullptr, false);
  if (document.is_discarded()) throw Error(fmt::format("{} is no JSON document", file));
  try {
    return results_of(document);
  } catch (const Error& error) {
    throw Error(fmt::format("{}: {}", file, error.what()));
  }
}

}  // namespace strop::cli
