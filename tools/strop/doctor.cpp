// strop doctor: one page that says what was found, by which rule, and what to do about what is missing.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

#include "src/base/format.h"
#include "src/base/settings.h"
#include "src/base/version.h"
#include "tools/strop/declaration.h"
#include "tools/strop/findings.h"
#include "tools/strop/json_values.h"
#include "tools/strop/machine.h"
#include "tools/strop/terminal.h"
#include "tools/strop/text_table.h"

namespace strop::cli {
namespace {

struct DoctorOptions {
  bool require_gpu = false;
  bool settings_markdown = false;
};

std::string line(std::string_view label, bool ok, const std::string& text, std::string_view otherwise = "missing") {
  const auto mark = ok ? good("ok     ") : warning(fmt::format("{:<7}", otherwise));
  return fmt::format("{:<10} {}  {}\n", label, mark, text);
}

std::string driver_line(const Findings& findings) {
  const auto& driver = findings.driver;
  if (driver.status != device::CudaStatus::ok) return line("driver", false, driver.reason);
  const auto version = findings.has_gpu() ? findings.devices.front().driver : std::string("unknown");
  return line("driver", true,
              fmt::format("{} (API {}.{}), {}, found by: {}", version, driver.driver_api / 1000,
                          driver.driver_api % 1000 / 10, driver.library, driver.rule));
}

std::string device_line(const DeviceFacts& facts) {
  const auto memory = facts.memory_bytes > 0 ? ", " + bytes_text(facts.memory_bytes) : std::string();
  const auto units = facts.kind == DeviceKind::cuda ? "SMs" : "cores";
  return line(
      "device", true,
      fmt::format("{}: {}, {}, {} {}{}", device_word(facts), facts.name, facts.arch, facts.sm_count, units, memory));
}

std::string compiler_line(const CompilerFinding& finding) {
  if (!finding.compiler) return line(finding.what, false, finding.reason.substr(0, finding.reason.find('\n')));
  const auto& compiler = *finding.compiler;
  return line(finding.what, finding.works(),
              fmt::format("{}, {}, found by: {}{}{}", compiler.identity(), compiler.path, compiler.rule,
                          finding.works() ? "" : "; ", finding.reason),
              "broken");
}

std::string cache_line(const CacheFinding& cache) {
  if (!cache.reason.empty()) return line("cache", false, cache.reason);
  if (cache.place.path.empty()) return line("cache", false, "in memory only: " + cache.place.rule);
  const auto content = cache.exists
                           ? fmt::format("{} winners, {} binaries, {}, format {}", cache.stats.winners,
                                         cache.stats.binaries, bytes_text(cache.stats.file_bytes), cache.stats.format)
                           : std::string("not made yet");
  return line("cache", cache.writable,
              fmt::format("{}, found by: {}; {}{}", cache.place.path, cache.place.rule, content,
                          cache.writable ? "" : "; can't be written"));
}

std::string settings_text() {
  TextTable table({"setting", "value", "from"});
  for (const auto& setting : settings::table()) {
    const auto value = settings::get(setting.name);
    const bool set = value.origin != "default";
    table.row({std::string(setting.variable), value.text.empty() ? "-" : value.text, value.origin},
              set ? TextTable::Style(bold) : TextTable::Style(dim));
  }
  return table.text();
}

std::string page(const Findings& findings) {
  auto text = bold(fmt::format("strop {}", kVersion)) + "\n" + driver_line(findings);
  for (const auto& facts : findings.devices) text += device_line(facts);
  text += compiler_line(findings.nvrtc) + compiler_line(findings.host_compiler) + cache_line(findings.cache) + "\n" +
          settings_text();
  if (findings.advice.empty()) return text + "\nnothing is missing\n";
  text += "\n" + bold("what to do") + "\n";
  for (const auto& advice : findings.advice) text += fmt::format("  - {}\n", advice);
  return text;
}

Json compiler_json(const CompilerFinding& finding) {
  if (!finding.compiler) return {{"found", false}, {"works", false}, {"reason", finding.reason}};
  const auto& compiler = *finding.compiler;
  return {{"found", true},
          {"works", finding.works()},
          {"reason", finding.reason},
          {"name", compiler.name},
          {"version", compiler.version},
          {"identity", compiler.identity()},
          {"path", compiler.path},
          {"rule", compiler.rule},
          {"targets", compiler.targets}};
}

std::string_view word_of(device::CudaStatus status) {
  switch (status) {
    case device::CudaStatus::ok:
      return "ok";
    case device::CudaStatus::no_library:
      return "no_library";
    case device::CudaStatus::stub:
      return "stub";
    case device::CudaStatus::no_device:
      return "no_device";
    case device::CudaStatus::too_old:
      return "too_old";
    case device::CudaStatus::failed:
      return "failed";
  }
  return "";
}

Json page_json(const Findings& findings) {
  auto json = document("doctor");
  json["version"] = kVersion;
  const auto& driver = findings.driver;
  json["driver"] = {{"status", word_of(driver.status)},
                    {"reason", driver.reason},
                    {"library", driver.library},
                    {"rule", driver.rule},
                    {"api", driver.driver_api},
                    {"devices", driver.devices},
                    {"version", findings.has_gpu() ? Json(findings.devices.front().driver) : Json()}};
  json["devices"] = Json::array();
  for (const auto& facts : findings.devices) json["devices"].push_back(to_json(facts));
  json["nvrtc"] = compiler_json(findings.nvrtc);
  json["host_compiler"] = compiler_json(findings.host_compiler);
  const auto& cache = findings.cache;
  json["cache"] = {{"path", cache.place.path},       {"rule", cache.place.rule},         {"note", cache.place.note},
                   {"network", cache.place.network}, {"exists", cache.exists},           {"writable", cache.writable},
                   {"winners", cache.stats.winners}, {"binaries", cache.stats.binaries}, {"reason", cache.reason}};
  json["settings"] = Json::array();
  for (const auto& setting : settings::table()) {
    const auto value = settings::get(setting.name);
    json["settings"].push_back({{"name", setting.name},
                                {"variable", setting.variable},
                                {"value", value.text},
                                {"origin", value.origin},
                                {"meaning", setting.meaning}});
  }
  json["usable"] = findings.usable();
  json["advice"] = findings.advice;
  return json;
}

std::string settings_markdown() {
  std::string text =
      "# Settings\n\nMade by `strop doctor --settings-markdown`; the tests compare them. Values are read from the "
      "environment once, at the first\n"
      "need, and are the same for the life of the process. An option of the command or of the API goes before its "
      "variable.\n\n"
      "| variable | default | meaning |\n|---|---|---|\n";
  for (const auto& setting : settings::table())
    text += fmt::format("| `{}` | {} | {} |\n", setting.variable,
                        setting.fallback.empty() ? "" : fmt::format("`{}`", setting.fallback), setting.meaning);
  return text;
}

int require_gpu(const Session& session) {
  const auto probe = device::probe_cuda();
  const bool found = probe.status == device::CudaStatus::ok && probe.devices > 0;
  if (session.json) {
    auto json = document("doctor");
    json["gpu"] = found;
    json["reason"] = probe.reason;
    if (!found) json["error"] = "no usable GPU: " + probe.reason;
    print(text_of(json));
  } else if (found) {
    print(fmt::format("{} usable\n", probe.devices == 1 ? "1 GPU is" : fmt::format("{} GPUs are", probe.devices)));
  }
  if (found) return kDone;
  note(fmt::format("strop: no usable GPU: {}\n", probe.reason));
  return kFailed;
}

int run(const Session& session, const DoctorOptions& options) {
  if (options.settings_markdown) {
    if (options.require_gpu || session.json) throw UsageError("--settings-markdown is a Markdown table: it goes with no other option");
    print(settings_markdown());
    return kDone;
  }
  if (options.require_gpu) return require_gpu(session);
  const auto findings = examine(session);
  const auto fault = findings.fault();
  if (session.json) {
    auto json = page_json(findings);
    if (!fault.empty()) json["error"] = fault;
    print(text_of(json));
  } else {
    print(page(findings));
  }
  if (fault.empty()) return kDone;
  note(fmt::format("strop: {}\n", fault));
  return kFailed;
}

}  // namespace

void add_doctor(Declaration& command, const Session& session) {
  auto doctor = command.subcommand(
      "doctor", "Which driver, devices, compilers, cache and settings there are, and what is missing");
  auto options = std::make_shared<DoctorOptions>();
  doctor.flag("--require-gpu", options->require_gpu, "only say whether a GPU is usable: exit code 0 or 1");
  doctor.flag("--settings-markdown", options->settings_markdown, "the table of settings as docs/settings.md has it");
  doctor.footer(
      "Exit code 1 when nothing could be tuned here (a GPU without NVRTC, or neither a GPU nor a C++ compiler; both\n"
      "compilers are tried), or a setting can't be meant.");
  doctor.json().run([options, &session] { return run(session, *options); });
}

}  // namespace strop::cli
