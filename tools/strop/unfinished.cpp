#include "tools/strop/unfinished.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/base/format.h"
#include "tools/strop/json_values.h"
#include "tools/strop/text_table.h"

namespace strop::cli {

std::vector<cache::Winner> selected_unfinished(cache::Store& store, const Selection& selection) {
  auto found = store.unfinished(selection.filter());
  std::erase_if(found, [&](const cache::Winner& one) { return !selection.admits_id(cache::handle(one.id)); });
  return found;
}

std::string unfinished_table(const std::vector<cache::Winner>& tunings) {
  TextTable table({"id", "kernel", "key", ">trials", ">rejected", "driver", "device", "last trial"});
  for (const auto& one : tunings)
    table.row({cache::handle(one.id), one.id.kernel, one.id.key.str(), fmt::format("{}", one.candidates),
               fmt::format("{}", one.rejected), one.environment.driver, one.environment.device_name, utc_text(one.tuned_at)});
  return table.text();
}

nlohmann::ordered_json unfinished_json(const std::vector<cache::Winner>& tunings) {
  Json list = Json::array();
  for (const auto& one : tunings)
    list.push_back({{"id", cache::handle(one.id)},
                    {"kernel", one.id.kernel},
                    {"key", to_json(one.id.key)},
                    {"trials", one.candidates},
                    {"rejected", one.rejected},
                    {"driver", one.environment.driver},
                    {"device", one.environment.device_name},
                    {"last_trial_at", utc_text(one.tuned_at)}});
  return list;
}

}  // namespace strop::cli
