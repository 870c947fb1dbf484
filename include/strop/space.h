#pragma once

// The candidates of a kernel: named tunable parameters with their values, the restrictions that say which combinations are
// legal for a problem on a device, and the default config that always competes. The order of parameters, values and
// restrictions is fixed by declaration, so that ties are broken alike on every machine.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "strop/config.h"
#include "strop/device_facts.h"

namespace strop {

class Space {
 public:
  struct Parameter {
    std::string name;
    std::vector<std::int64_t> values;
    bool compiled = true;  // false: only geometry and arguments use it, and configs that differ in it alone share one binary
  };
  // A restriction sees the config, the fixed constants of the specialisation (D, W, ...) and the device; true means legal.
  using Predicate = std::function<bool(const Config& config, const Config& constants, const DeviceFacts& device)>;
  struct Restriction {
    std::string reason;  // printed when it rejects: "tile does not fit in shared memory"
    Predicate legal;
  };

  // A compile-time constant of the template.
  Space& parameter(std::string_view name, std::vector<std::int64_t> values);
  // A value that the launch alone needs (a grid's shape, a count passed in the args struct): not compiled in.
  Space& launch_parameter(std::string_view name, std::vector<std::int64_t> values);
  Space& restrict(std::string_view reason, Predicate legal);
  // The config run when nothing is known; must be legal wherever the op is supported. `configs` puts it first.
  Space& fallback(Config config);

  const std::vector<Parameter>& parameters() const { return parameters_; }
  const std::vector<Restriction>& restrictions() const { return restrictions_; }
  const Config& fallback() const { return fallback_; }

  // Every legal config, the fallback first, the rest in declaration order. Nothing is compiled.
  std::vector<Config> configs(const Config& constants, const DeviceFacts& device) const;
  // The reason of the first restriction that rejects it, or that a value is not in the space; empty when legal.
  std::string why_illegal(const Config& config, const Config& constants, const DeviceFacts& device) const;
  // The part of a config that is compiled in.
  Config compiled_part(const Config& config) const;
  // Parameters and values and restriction reasons as text: part of a winner's identity, so that a changed space is a new tuning.
  std::string describe() const;

 private:
  Space& add(std::string_view name, std::vector<std::int64_t> values, bool compiled);
  std::vector<Parameter> parameters_;
  std::vector<Restriction> restrictions_;
  Config fallback_;
};

}  // namespace strop
