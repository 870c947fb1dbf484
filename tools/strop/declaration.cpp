#include "tools/strop/declaration.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

namespace strop::cli {
namespace {

// CLI11 leaves two blank lines between groups of options.
std::string tidied(std::string text) {
  for (auto at = text.find("\n\n\n"); at != std::string::npos; at = text.find("\n\n\n")) text.erase(at, 1);
  return text;
}

// An option without a value is never meant: a script's variable was empty, or the next option was taken for it.
CLI::Validator needs_a_value() {
  return {[](std::string& value) {
            if (value.empty()) return std::string("needs a value, an empty one was given");
            return value.starts_with("--") ? fmt::format("needs a value, and {} is an option", value) : std::string();
          },
          ""};
}

std::string pages_of(const CLI::App& app, const std::string& parents) {
  const auto name = parents.empty() ? app.get_name() : parents + " " + app.get_name();
  // Not App::help, which shows the help of the subcommand that was called.
  const auto help = tidied(app.get_formatter()->make_help(&app, name, CLI::AppFormatMode::Normal));
  auto text = fmt::format("\n## {}\n\n```text\n{}```\n", name, help);
  for (const auto* sub : app.get_subcommands([](const CLI::App*) { return true; })) text += pages_of(*sub, name);
  return text;
}

}  // namespace

std::string help_of(const CLI::App& app, const std::string& parents) {
  return tidied(app.help(parents));
}

Declaration Declaration::subcommand(const std::string& name, const std::string& help) const {
  auto* sub = app_->add_subcommand(name, help);
  sub->require_subcommand(0, 1);
  sub->get_formatter()->column_width(24);
  return {*sub, *session_};
}

Declaration& Declaration::heading(const std::string& text) {
  heading_ = text;
  return *this;
}

Declaration& Declaration::option(const std::string& names, std::string& value, const std::string& help,
                                 const std::string& type) {
  auto* option = app_->add_option(names, value, help)->type_name(type)->check(needs_a_value());
  if (!value.empty()) option->capture_default_str();
  if (!heading_.empty()) option->group(heading_);
  return *this;
}

Declaration& Declaration::required_option(const std::string& names, std::string& value, const std::string& help,
                                          const std::string& type) {
  option(names, value, help, type);
  app_->get_option(names.substr(0, names.find(',')))->required();
  return *this;
}

Declaration& Declaration::flag(const std::string& names, bool& value, const std::string& help) {
  auto* option = app_->add_flag(names, value, help);
  if (!heading_.empty()) option->group(heading_);
  return *this;
}

Declaration& Declaration::argument(const std::string& name, std::string& value, const std::string& help) {
  app_->add_option(name, value, help)->required()->type_name("")->check(needs_a_value());
  return *this;
}

Declaration& Declaration::arguments(const std::string& name, std::vector<std::string>& values,
                                    const std::string& help) {
  app_->add_option(name, values, help)->required()->type_name("")->check(needs_a_value());
  return *this;
}

Declaration& Declaration::json() {
  app_->add_flag("--json", session_->json, "one JSON document on standard output");
  return *this;
}

Declaration& Declaration::footer(const std::string& text) {
  app_->footer(text);
  return *this;
}

void Declaration::run(std::function<int()> action) {
  app_->callback([session = session_, action = std::move(action)] { session->action = action; });
}

std::string Declaration::pages() const { return pages_of(*app_, ""); }

}  // namespace strop::cli
