// The strop command: parses, does what the subcommand put into the session, and turns the outcome into an exit code.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <exception>

#include "src/base/settings.h"
#include "src/base/version.h"
#include "strop/error.h"
#include "tools/strop/command.h"
#include "tools/strop/declaration.h"
#include "tools/strop/json_values.h"
#include "tools/strop/refusal.h"
#include "tools/strop/terminal.h"

namespace strop::cli {
namespace {

void declare(CLI::App& app, Session& session) {
  app.description("strop " + std::string(kVersion) + ": GPU kernels specialised, tuned and remembered before step 1");
  app.set_version_flag("--version", "strop " + std::string(kVersion));
  app.require_subcommand(0, 1);
  app.fallthrough();
  Declaration command(app, session);
  command.option("--cache", session.cache,
                 "cache database: a file or a folder (else STROP_CACHE, else `strop cache path`)", "PATH");
  add_warmup(command, session);
  add_bench(command, session);
  add_cache(command, session);
  add_doctor(command, session);
  add_templates(command, session);
  add_manual(command);
  command.footer(
      "Data goes to standard output, progress and log to standard error; --json gives one document.\n"
      "Exit codes: 0 done, 1 failed, 2 the command line can't be meant. Settings: `strop doctor`.");
}

// The innermost subcommand that was named so far.
const CLI::App& innermost(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? app : innermost(*chosen.front());
}

std::string choices(const CLI::App& app) {
  std::vector<std::string> names;
  for (const auto* sub : app.get_subcommands([](const CLI::App*) { return true; })) names.push_back(sub->get_name());
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string full_name(const CLI::App& app) {
  return app.get_parent() == nullptr ? app.get_name() : full_name(*app.get_parent()) + " " + app.get_name();
}

// "--opt=" would take the next word as its value.
void require_values(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word(argv[i]);
    if (word.starts_with("--") && word.ends_with('=') && word.find('=') + 1 == word.size())
      throw UsageError(fmt::format("{}: needs a value, an empty one was given", word.substr(0, word.size() - 1)));
  }
}

// Asked for, though the command line could not be understood to its end.
bool wants_json(int argc, char** argv) {
  return std::any_of(argv + 1, argv + std::max(argc, 1), [](const char* word) { return std::string_view(word).starts_with("--json"); });
}

int refuse(const CLI::App& app, const std::string& why, bool json) {
  const auto& where = innermost(app);
  const auto subcommands = choices(where);
  auto text = fmt::format("{}: {}\n", full_name(where), why);
  if (!subcommands.empty()) text += fmt::format("known: {}\n", subcommands);
  note(text + fmt::format("`{} --help` says more\n", full_name(where)));
  if (json) print(text_of(Json{{"schema", kJsonSchema}, {"error", fmt::format("{}: {}", full_name(where), why)}}));
  return kUsage;
}

int parse_and_run(CLI::App& app, Session& session, int argc, char** argv) {
  const bool json = wants_json(argc, argv);
  session.json = json;  // for what is refused before the subcommand is known
  require_values(argc, argv);
  try {
    session.json = false;
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    print(help_of(app, ""));
    return kDone;
  } catch (const CLI::CallForVersion& version) {
    print(fmt::format("{}\n", version.what()));
    return kDone;
  } catch (const CLI::ParseError& error) {
    return refuse(app, sentence_of(error), json);
  }
  if (!session.action) return refuse(app, "which subcommand?", json);
  return session.action();
}

// The sentence, and with --json a document that holds it.
int fail(const Session& session, int code, const std::string& what) {
  note(fmt::format("strop: {}\n", what));
  if (session.json) print(text_of(Json{{"schema", kJsonSchema}, {"error", what}}));
  return code;
}

int run(int argc, char** argv) {
  // A reader that goes away must not end a warmup in the middle; writing notices it.
  std::signal(SIGPIPE, SIG_IGN);
  // A file that may not grow is a full disk, which the cache copes with, and not the end.
  std::signal(SIGXFSZ, SIG_IGN);
  CLI::App app("", "strop");
  Session session;
  declare(app, session);
  for (const auto& problem : settings::problems()) note(fmt::format("strop: warning: {}\n", problem));
  try {
    return parse_and_run(app, session, argc, argv);
  } catch (const UsageError& error) {
    return fail(session, kUsage, error.what());
  } catch (const OutputError& error) {
    note(fmt::format("strop: {}\n", error.what()));
    return kFailed;
  } catch (const std::exception& error) {
    return fail(session, kFailed, error.what());
  }
}

}  // namespace

}  // namespace strop::cli

int main(int argc, char** argv) {
  try {
    return strop::cli::run(argc, argv);
  } catch (...) {  // reporting itself failed: no room, no output
    return strop::cli::kFailed;
  }
}
