#pragma once

// The command's JSON: one document a run, `"schema": 1`, fields in a fixed order. Names and meanings are part of the
// interface (docs/cli.md); fields may be added within a schema, never changed.

#include <nlohmann/json.hpp>
#include <string>

#include "cache/store.h"
#include "src/engine/entry_state.h"
#include "strop/device_facts.h"
#include "strop/library.h"

namespace strop::cli {

using Json = nlohmann::ordered_json;

inline constexpr int kJsonSchema = 1;

// {"schema": 1, "command": "cache list"}
Json document(const std::string& command);
// Indented, with a newline; bytes that are not UTF-8 are replaced.
std::string text_of(const Json& json);

Json to_json(const Key& key);
Json to_json(const Config& config);
Json to_json(const DeviceFacts& facts);
Json to_json(const Trial& trial);
Json to_json(const KeyReport& report);
Json to_json(const cache::Winner& winner, const engine::EntryState& state);

// Times of a report and of an entry: median_us, spread_us, min_us, samples. Null medians where nothing was timed.
void add_time(Json& json, const Measurement& time);

}  // namespace strop::cli
