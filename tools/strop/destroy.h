#pragma once

// What every subcommand that destroys has in common: --dry-run shows, --yes does without asking, and without a terminal
// to ask on nothing is done unasked.

#include <string>

#include "tools/strop/declaration.h"
#include "tools/strop/terminal.h"

namespace strop::cli {

struct Destroy {
  bool dry_run = false;
  bool yes = false;

  void declare(Declaration& subcommand) {
    subcommand.flag("--dry-run", dry_run, "show what would go, and do nothing");
    subcommand.flag("--yes,-y", yes, "do not ask");
  }
  // Throws Error when the user says no, and UsageError when there is nobody to ask.
  void require_consent(const std::string& question) const {
    if (!yes && !confirm(question)) throw Error("not agreed to, so nothing was removed");
  }
};

}  // namespace strop::cli
