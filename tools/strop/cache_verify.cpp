// strop cache verify: is the database whole?

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "tools/strop/declaration.h"
#include "tools/strop/entries.h"
#include "tools/strop/json_values.h"
#include "tools/strop/terminal.h"

namespace strop::cli {
namespace {

std::string summary_of(const std::vector<cache::Damage>& damage, std::int64_t left, const cache::Place& place) {
  if (damage.empty()) return fmt::format("{} is whole\n", place.path);
  return fmt::format(
      "{}: {} found, {} repaired{}\n", place.path, damage.size(), static_cast<std::int64_t>(damage.size()) - left,
      left > 0 ? "; `strop cache verify --repair` removes what is damaged, it is made again when it is needed" : "");
}

int run(const Session& session, bool repair) {
  const auto cache = open_cache(session, repair ? Access::change : Access::look);
  std::vector<cache::Damage> damage;
  if (cache.exists) damage = cache.store->verify(repair);
  const auto left =
      std::count_if(damage.begin(), damage.end(), [](const cache::Damage& finding) { return !finding.repaired; });
  if (session.json) {
    auto json = document("cache verify");
    json["path"] = cache.place.path;
    json["exists"] = cache.exists;
    json["ok"] = left == 0;
    json["damage"] = Json::array();
    for (const auto& finding : damage)
      json["damage"].push_back({{"what", finding.what}, {"repaired", finding.repaired}});
    if (left > 0) json["error"] = fmt::format("{} of {} findings are not repaired", left, damage.size());
    print(text_of(json));
  } else if (!cache.exists) {
    note(absent_text(cache.place) + "\n");
  } else {
    std::string text;
    for (const auto& finding : damage)
      text += fmt::format("{} {}\n", finding.repaired ? good("repaired") : bad("damaged "), printable(finding.what));
    print(text + summary_of(damage, left, cache.place));
  }
  if (left > 0) note(fmt::format("strop: {} is damaged\n", cache.place.path));
  return left == 0 ? kDone : kFailed;
}

}  // namespace

void add_cache_verify(Declaration& group, const Session& session) {
  auto verify =
      group.subcommand("verify", "Check the database, its checksums and its references; exit code 1 when damaged");
  auto repair = std::make_shared<bool>(false);
  verify.flag("--repair", *repair, "remove what is damaged");
  verify.json().run([repair, &session] { return run(session, *repair); });
}

}  // namespace strop::cli
