// strop cache: the group of subcommands about what is remembered.

#include "tools/strop/command.h"
#include "tools/strop/declaration.h"

namespace strop::cli {

void add_cache(Declaration& command, const Session& session) {
  auto group = command.subcommand("cache", "Look at what is remembered, and throw out what is no longer true");
  add_cache_list(group, session);
  add_cache_show(group, session);
  add_cache_stats(group, session);
  add_cache_explain(group, session);
  add_cache_path(group, session);
  add_cache_verify(group, session);
  add_cache_revalidate(group, session);
  add_cache_invalidate(group, session);
  add_cache_prune(group, session);
  // Last: subcommands inherit the footer that is there when they are added.
  group.footer(
      "None of these needs a GPU, a driver or a compiler, except revalidate.\n"
      "KEY is an id as `strop cache list` shows it (its first digits will do), or fields of the key: D=2048 W=4");
}

}  // namespace strop::cli
