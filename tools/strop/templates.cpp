// strop templates: what this build can tune.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

#include "jit/toolchain.h"
#include "src/engine/parts.h"
#include "src/ops/op.h"
#include "tools/strop/arguments.h"
#include "tools/strop/declaration.h"
#include "tools/strop/json_values.h"
#include "tools/strop/terminal.h"

namespace strop::cli {
namespace {

std::size_t combinations_of(const Space& space) {
  std::size_t product = 1;
  for (const auto& parameter : space.parameters()) product *= parameter.values.size();
  return product;
}

std::string kernel_text(const Kernel& kernel) {
  auto text =
      fmt::format("  {}  templates/{}  {}\n", bold(kernel.source.name), kernel.source.file, kernel.source.function);
  for (const auto& parameter : kernel.space.parameters())
    text += fmt::format("    {:<12} {}\n", parameter.name, fmt::join(parameter.values, ", "));
  text += fmt::format("    default      {}\n", kernel.space.fallback().str());
  text += fmt::format("    {} combinations, less those that a restriction rejects:\n", combinations_of(kernel.space));
  for (const auto& restriction : kernel.space.restrictions()) text += fmt::format("      - {}\n", restriction.reason);
  return text;
}

Json kernel_json(const Kernel& kernel) {
  Json json{{"kernel", kernel.source.name},
            {"file", kernel.source.file},
            {"function", kernel.source.function},
            {"template_digest", engine::template_digest(kernel, false)},
            {"parameters", Json::object()},
            {"default", to_json(kernel.space.fallback())},
            {"combinations", combinations_of(kernel.space)},
            {"restrictions", Json::array()}};
  for (const auto& parameter : kernel.space.parameters()) json["parameters"][parameter.name] = parameter.values;
  for (const auto& restriction : kernel.space.restrictions()) json["restrictions"].push_back(restriction.reason);
  return json;
}

int show(const Session& session, const std::string& file) {
  const auto& texts = jit::embedded_templates();
  const auto found = texts.find(file);
  if (found == texts.end()) {
    std::vector<std::string> known;
    known.reserve(texts.size());
    for (const auto& [name, text] : texts) known.push_back(name);
    refuse_choice("--show", file, known);
  }
  if (session.json) {
    auto json = document("templates");
    json["file"] = file;
    json["text"] = found->second;
    print(text_of(json));
    return kDone;
  }
  print(found->second);
  return kDone;
}

int run(const Session& session) {
  auto json = document("templates");
  json["ops"] = Json::array();
  std::string text;
  for (const auto* op : ops::all()) {
    Json kernels = Json::array();
    text += bold(op->name()) + "\n";
    for (const auto* kernel : op->kernels()) {
      kernels.push_back(kernel_json(*kernel));
      text += kernel_text(*kernel);
    }
    json["ops"].push_back({{"op", op->name()}, {"kernels", std::move(kernels)}});
  }
  json["files"] = Json::array();
  for (const auto& [file, body] : jit::embedded_templates()) json["files"].push_back(file);
  print(session.json ? text_of(json) : text);
  return kDone;
}

}  // namespace

void add_templates(Declaration& command, const Session& session) {
  auto templates = command.subcommand("templates", "The ops and kernels of this build, with the space of each");
  auto file = std::make_shared<std::string>();
  templates.option("--show", *file, "print an embedded text, say common/memory.cuh", "FILE");
  templates.json().run([file, &session] { return file->empty() ? run(session) : show(session, *file); });
}

}  // namespace strop::cli
