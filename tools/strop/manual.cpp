// strop manual: docs/cli.md.

#include <string>

#include "tools/strop/command.h"
#include "tools/strop/declaration.h"
#include "tools/strop/terminal.h"

namespace strop::cli {
namespace {

constexpr std::string_view kOpening =
    "# The command\n"
    "\n"
    "Made by `strop manual`; the tests compare it with the command. Data goes to standard output; progress, notes and "
    "the log go to\n"
    "standard error. A progress bar is drawn, and colours are used, only on a terminal; `NO_COLOR` is honoured.\n"
    "\n"
    "| exit code | meaning |\n"
    "|---|---|\n"
    "| 0 | done |\n"
    "| 1 | failed; the sentence on standard error says what and why |\n"
    "| 2 | the command line can't be meant, or something would be destroyed unasked |\n"
    "\n"
    "A reader of standard output that goes away (`| head -1`) is no error. With `--json` there is exactly one document "
    "on standard output,\n"
    "with `\"schema\": 1`, also when the command failed (`\"error\"` says why); within a schema fields are added, "
    "never changed.\n";

}  // namespace

void add_manual(Declaration& command) {
  command.subcommand("manual", "Every help page in one Markdown document").run([command] {
    print(std::string(kOpening) + command.pages());
    return kDone;
  });
}

}  // namespace strop::cli
