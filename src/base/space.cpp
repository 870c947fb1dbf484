#include "strop/space.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/base/identifier.h"
#include "strop/error.h"

namespace strop {
namespace {

bool has_parameter(const std::vector<Space::Parameter>& parameters, std::string_view name) {
  return std::any_of(parameters.begin(), parameters.end(), [&](const auto& p) { return p.name == name; });
}

}  // namespace

Space& Space::parameter(std::string_view name, std::vector<std::int64_t> values) { return add(name, std::move(values), true); }

Space& Space::launch_parameter(std::string_view name, std::vector<std::int64_t> values) { return add(name, std::move(values), false); }

Space& Space::add(std::string_view name, std::vector<std::int64_t> values, bool compiled) {
  require_identifier(name, "the name of a tunable parameter");
  if (values.empty()) throw Error(fmt::format("tunable parameter '{}' has no values", name));
  if (has_parameter(parameters_, name)) throw Error(fmt::format("tunable parameter '{}' is declared twice", name));
  parameters_.push_back({std::string(name), std::move(values), compiled});
  return *this;
}

Space& Space::restrict(std::string_view reason, Predicate legal) {
  restrictions_.push_back({std::string(reason), std::move(legal)});
  return *this;
}

Space& Space::fallback(Config config) {
  for (const auto& parameter : parameters_)
    if (!config.contains(parameter.name))
      throw Error(fmt::format("the default config {} has no value for '{}'", config.str(), parameter.name));
  fallback_ = std::move(config);
  return *this;
}

std::string Space::why_illegal(const Config& config, const Config& constants, const DeviceFacts& device) const {
  for (const auto& [name, value] : config.entries())
    if (!has_parameter(parameters_, name)) return fmt::format("'{}' is not a parameter of the space", name);
  for (const auto& parameter : parameters_) {
    const auto value = config.find(parameter.name);
    if (!value) return fmt::format("no value for '{}'", parameter.name);
    if (std::find(parameter.values.begin(), parameter.values.end(), *value) == parameter.values.end())
      return fmt::format("{}={} is not in the space", parameter.name, *value);
  }
  for (const auto& restriction : restrictions_)
    if (!restriction.legal(config, constants, device)) return restriction.reason;
  return {};
}

std::vector<Config> Space::configs(const Config& constants, const DeviceFacts& device) const {
  std::vector<Config> found;
  if (!parameters_.empty() && why_illegal(fallback_, constants, device).empty()) found.push_back(fallback_);
  std::vector<std::size_t> digit(parameters_.size(), 0);
  bool more = !parameters_.empty();
  while (more) {
    Config config;
    for (std::size_t i = 0; i < parameters_.size(); ++i) config.set(parameters_[i].name, parameters_[i].values[digit[i]]);
    const bool seen = std::find(found.begin(), found.end(), config) != found.end();
    if (!seen && why_illegal(config, constants, device).empty()) found.push_back(std::move(config));
    // Counts through the values with the last parameter fastest: declaration order.
    std::size_t place = parameters_.size();
    more = false;
    while (place > 0 && !more) {
      --place;
      more = ++digit[place] < parameters_[place].values.size();
      if (!more) digit[place] = 0;
    }
  }
  if (parameters_.empty()) found.emplace_back();  // a kernel with nothing to tune has one candidate
  return found;
}

Config Space::compiled_part(const Config& config) const {
  Config part;
  for (const auto& [name, value] : config.entries()) {
    const auto is_launch = [&, &parameter = name](const Parameter& p) { return p.name == parameter && !p.compiled; };
    if (std::none_of(parameters_.begin(), parameters_.end(), is_launch)) part.set(name, value);
  }
  return part;
}

std::string Space::describe() const {
  std::string text;
  for (const auto& parameter : parameters_) text += fmt::format("{}{}: {}\n", parameter.compiled ? "" : "launch ", parameter.name, fmt::join(parameter.values, " "));
  for (const auto& restriction : restrictions_) text += fmt::format("only: {}\n", restriction.reason);
  return text + fmt::format("default: {}\n", fallback_.str());
}

}  // namespace strop
