#include "tools/strop/bench_report.h"

#include <fmt/format.h>

#include "src/ops/causal_conv1d/common_problem.h"
#include "tools/strop/entries.h"
#include "tools/strop/text_table.h"

namespace strop::cli {
namespace {

std::string_view layout_of(const CausalConv1dProblem& problem) {
  if (problem.packed_sequences > 0) return "packed";
  return problem.x_strides == std::array<std::int64_t, 3>{} ? "dense" : "slice";
}

Json time_json(const CallTime& time, const char* ceiling, double limit_gbps) {
  Json json = Json::object();
  add_time(json, time.call);
  const double gbps = time.bytes / time.call.median_us / 1e3;
  json[ceiling] = time.ceiling.median_us;
  json["ratio"] = time.call.median_us / time.ceiling.median_us;
  json["bytes"] = time.bytes;
  json["gbps"] = gbps;
  json["share_of_limit"] = limit_gbps > 0 ? Json(gbps / limit_gbps) : Json();
  json["host_us"] = time.host_us;
  json["config"] = Json::object();
  for (const auto& [kernel, config] : time.configs) json["config"][kernel] = to_json(config);
  return json;
}

std::string percent(double share) { return share > 0 ? fmt::format("{:.1f} %", 100 * share) : "-"; }
std::string times_ceiling(double ratio) { return ratio > 0 ? fmt::format("{:.3f} x", ratio) : "-"; }

std::string both(const RowResult& row, std::size_t contender) {
  const auto& f = row.forward[contender];
  const auto& b = row.backward[contender];
  return f && b ? time_text(f->median_us + b->median_us) : "-";
}

std::string sources(const BenchResults& results) {
  std::string text = fmt::format("{}, {}", results.device, results.date);
  for (const auto& [name, version] : results.versions) text += fmt::format(", {} {}", name, version);
  return text;
}

std::vector<std::string> cells_of(const RowResult& row) {
  std::vector<std::string> cells{row.name};
  for (const auto* direction : {&row.forward, &row.backward}) {
    const auto& ours = *direction->front();
    cells.push_back(time_text(ours.median_us));
    cells.push_back(time_text(ours.spread_us));
    cells.push_back(times_ceiling(ours.ratio));
    cells.push_back(percent(ours.share));
    cells.push_back(time_text(ours.host_us));
  }
  for (std::size_t i = 0; i < row.forward.size(); ++i) cells.push_back(both(row, i));
  return cells;
}

}  // namespace

Json row_json(const BenchRow& row) {
  const auto& p = row.problem;
  const auto shape = ops::make_shape(p);
  Json json{{"name", row.name},         {"shape", {{"B", p.B}, {"T", p.T}, {"D", p.D}, {"W", p.W}}},
            {"dtype", name(p.x_type)},  {"wdtype", name(p.weight_type)},
            {"layout", layout_of(p)},   {"x_strides", {shape.x.sequence, shape.x.row, shape.x.channel}},
            {"alignment", p.alignment}, {"sequences", shape.sequences()}};
  json["activation"] = p.activation == Activation::silu ? "silu" : "none";
  json["bias"] = p.bias;
  json["residual"] = p.residual;
  json["initial_state"] = p.initial_state;
  json["final_state"] = p.final_state;
  if (p.packed_sequences == 0) return json;
  json["cu_seqlens_type"] = name(p.cu_seqlens_type);
  json["cu_seqlens"] = Json::array();
  for (const double bound : ops::bounds_tensor(shape).values)
    json["cu_seqlens"].push_back(static_cast<std::int64_t>(bound));
  return json;
}

void add_times(Json& json, const CallTimes& times, double limit_gbps) {
  json["forward"] = time_json(times.forward, "copy_us", limit_gbps);
  json["backward"] = time_json(times.backward, "add_us", limit_gbps);
}

std::string results_text(const BenchResults& results) {
  std::vector<std::string> headings{"calls of",  ">forward", ">spread", ">to copy",  ">of limit", ">host",
                                    ">backward", ">spread",  ">to add", ">of limit", ">host"};
  for (const auto& contender : results.contenders)
    headings.push_back(contender == "strop" ? ">both" : ">both, " + contender);
  TextTable table(headings);
  for (const auto& row : results.rows) table.row(cells_of(row));
  auto text = table.text();
  for (const auto& note : results.notes) text += note + "\n";
  return text + fmt::format("on {}; cold caches; copy and add move the same bytes, measured in turns with the calls\n",
                            sources(results));
}

std::string results_markdown(const BenchResults& results) {
  std::string head =
      "| (B, T, D) | forward | to copy | of the limit | backward with dw | to add | of the limit | both |";
  std::string rule = "|---|---|---|---|---|---|---|---|";
  for (std::size_t i = 1; i < results.contenders.size(); ++i) {
    head += fmt::format(" {}: forward | backward | both |", results.contenders[i]);
    rule += "---|---|---|";
  }
  auto text = head + "\n" + rule + "\n";
  for (const auto& row : results.rows) {
    text += fmt::format("| {} |", row.name);
    for (const auto* direction : {&row.forward, &row.backward}) {
      const auto& ours = *direction->front();
      text += fmt::format(" {} | {} | {} |", time_text(ours.median_us), times_ceiling(ours.ratio), percent(ours.share));
    }
    text += fmt::format(" {} |", both(row, 0));
    for (std::size_t i = 1; i < results.contenders.size(); ++i) {
      for (const auto* direction : {&row.forward, &row.backward}) {
        const auto& theirs = (*direction)[i];
        text += fmt::format(" {} |", theirs ? time_text(theirs->median_us) : "-");
      }
      text += fmt::format(" {} |", both(row, i));
    }
    text += "\n";
  }
  text += fmt::format("\n{}; medians, cold caches", sources(results));
  if (results.limit_gbps > 0) text += fmt::format("; the limit is {:.0f} GB/s", results.limit_gbps);
  text += ".\n";
  for (const auto& note : results.notes) text += fmt::format("* {}\n", note);
  return text;
}

}  // namespace strop::cli
