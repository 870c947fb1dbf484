// strop cache path: where the database is, by which rule.

#include <fmt/format.h>

#include "tools/strop/declaration.h"
#include "tools/strop/entries.h"
#include "tools/strop/json_values.h"
#include "tools/strop/terminal.h"

namespace strop::cli {
namespace {

int run(const Session& session) {
  const auto cache = find_cache(session);
  if (session.json) {
    auto json = document("cache path");
    json["path"] = cache.place.path;
    json["rule"] = cache.place.rule;
    json["note"] = cache.place.note;
    json["network"] = cache.place.network;
    json["exists"] = cache.exists;
    print(text_of(json));
    return kDone;
  }
  if (!cache.place.note.empty()) note(cache.place.note + "\n");
  note(fmt::format("by the rule: {}{}\n", cache.place.rule, cache.exists ? "" : "; not made yet"));
  print((cache.place.path.empty() ? ":memory:" : cache.place.path) + "\n");
  return kDone;
}

}  // namespace

void add_cache_path(Declaration& group, const Session& session) {
  group.subcommand("path", "Where the database is").json().run([&session] { return run(session); });
}

}  // namespace strop::cli
