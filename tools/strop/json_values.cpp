#include "tools/strop/json_values.h"

#include "src/base/format.h"

namespace strop::cli {
namespace {

// Unix seconds as text, null for "never".
Json moment(std::int64_t seconds) { return seconds > 0 ? Json(utc_text(seconds)) : Json(); }

Json known(int value) { return value >= 0 ? Json(value) : Json(); }

}  // namespace

Json document(const std::string& command) { return Json{{"schema", kJsonSchema}, {"command", command}}; }

std::string text_of(const Json& json) { return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }

Json to_json(const Key& key) {
  Json json = Json::object();
  for (const auto& [name, value] : key.fields()) {
    if (const auto* number = std::get_if<std::int64_t>(&value))
      json[name] = *number;
    else
      json[name] = std::get<std::string>(value);
  }
  return json;
}

Json to_json(const Config& config) {
  Json json = Json::object();
  for (const auto& [name, value] : config.entries()) json[name] = value;
  return json;
}

Json to_json(const DeviceFacts& facts) {
  return Json{{"kind", facts.kind == DeviceKind::cuda ? "cuda" : "host"},
              {"ordinal", facts.ordinal},
              {"name", facts.name},
              {"arch", facts.arch},
              {"sm_count", facts.sm_count},
              {"l2_bytes", facts.l2_bytes},
              {"memory_bytes", facts.memory_bytes},
              {"shared_per_block", facts.shared_per_block},
              {"mig_profile", facts.mig_profile},
              {"uuid", facts.uuid},
              {"driver", facts.driver},
              {"driver_user_mode", facts.driver_user_mode},
              {"driver_api", facts.driver_api}};
}

void add_time(Json& json, const Measurement& time) {
  const bool timed = time.samples > 0;
  json["median_us"] = timed ? Json(time.median_us) : Json();
  json["spread_us"] = timed ? Json(time.spread_us) : Json();
  json["min_us"] = timed ? Json(time.min_us) : Json();
  json["samples"] = time.samples;
}

Json to_json(const Trial& trial) {
  Json json{{"config", to_json(trial.config)}, {"verdict", name(trial.verdict)}, {"detail", trial.detail}};
  add_time(json, trial.time);
  json["registers"] = known(trial.resources.registers);
  json["spill_store_bytes"] = known(trial.resources.spill_store_bytes);
  json["spill_load_bytes"] = known(trial.resources.spill_load_bytes);
  json["stack_bytes"] = known(trial.resources.stack_bytes);
  json["static_shared"] = known(trial.resources.static_shared);
  json["dynamic_shared"] = trial.dynamic_shared;
  json["compile_ms"] = trial.compile_ms;
  return json;
}

Json to_json(const KeyReport& report) {
  Json json{{"kernel", report.kernel},
            {"key", to_json(report.key)},
            {"outcome", name(report.outcome)},
            {"candidates", report.candidates},
            {"rejected", report.rejected},
            {"rejections", Json::array()},
            {"winner", Json()}};
  if (report.winner) json["winner"] = to_json(*report.winner);
  add_time(json, report.time);
  for (const auto& trial : report.trials) {
    // Too slow is no fault of a candidate's: it lost, and is not counted as rejected.
    if (trial.verdict != Verdict::ok && trial.verdict != Verdict::too_slow)
      json["rejections"].push_back(
          {{"config", to_json(trial.config)}, {"verdict", name(trial.verdict)}, {"detail", trial.detail}});
  }
  if (report.previous) {
    json["previous"] = to_json(*report.previous);
    json["previous_us"] = report.previous_us;
  }
  json["elapsed_s"] = report.elapsed_s;
  json["note"] = report.note;
  return json;
}

Json to_json(const cache::Winner& winner, const engine::EntryState& state) {
  Json json{{"id", cache::handle(winner.id)},
            {"kernel", winner.id.kernel},
            {"key", to_json(winner.id.key)},
            {"winner", to_json(winner.config)}};
  add_time(json, winner.time);
  json["state"] = engine::name(state.state);
  json["reason"] = state.reason;
  json["device"] = winner.environment.device_name;
  json["driver"] = winner.environment.driver;
  json["compiler"] = winner.environment.compiler;
  json["candidates"] = winner.candidates;
  json["rejected"] = winner.rejected;
  json["why"] = winner.why;
  json["flags"] = winner.flags;
  json["limit_us"] = winner.limit_us > 0 ? Json(winner.limit_us) : Json();
  json["tuned_at"] = moment(winner.tuned_at);
  json["revalidated_at"] = moment(winner.revalidated_at);
  json["last_used"] = moment(winner.last_used);
  json["strop_version"] = winner.environment.strop_version;
  return json;
}

}  // namespace strop::cli
