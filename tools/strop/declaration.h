#pragma once

// How a subcommand declares itself: its name, options and what to run. A thin cover over CLI11, so that one file alone
// includes that header (it costs seconds a file), and so that every option is a text that arguments.h then reads, with
// messages of ours. What is bound must live until the session's action has run. Used by one thread.

#include <functional>
#include <string>
#include <vector>

#include "tools/strop/command.h"

namespace CLI {
class App;
}

namespace strop::cli {

// The help page of an app or of the subcommand that was named on it.
std::string help_of(const CLI::App& app, const std::string& parents);

class Declaration {
 public:
  Declaration(CLI::App& app, Session& session) : app_(&app), session_(&session) {}

  Declaration subcommand(const std::string& name, const std::string& help) const;
  // The heading of the options that follow.
  Declaration& heading(const std::string& text);
  // A default that is not empty is shown. `type` is what stands for the value in the help: "N,...".
  Declaration& option(const std::string& names, std::string& value, const std::string& help, const std::string& type);
  Declaration& required_option(const std::string& names, std::string& value, const std::string& help,
                               const std::string& type);
  Declaration& flag(const std::string& names, bool& value, const std::string& help);
  // What stands without a name; needed.
  Declaration& argument(const std::string& name, std::string& value, const std::string& help);
  Declaration& arguments(const std::string& name, std::vector<std::string>& values, const std::string& help);
  Declaration& json();  // `--json`, the same words everywhere
  Declaration& footer(const std::string& text);
  // What to do when this is the subcommand that was called.
  void run(std::function<int()> action);
  // Every help page below the command itself, as Markdown.
  std::string pages() const;

 private:
  CLI::App* app_;
  Session* session_;
  std::string heading_;
};

}  // namespace strop::cli
