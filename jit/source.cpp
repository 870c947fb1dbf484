// From a request to the text that a compiler sees, and the texts it reaches.

#include <algorithm>
#include <deque>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "jit/toolchain.h"
#include "strop/error.h"

namespace strop::jit {
namespace {

constexpr std::string_view kLibraryPrefix = "common/";

std::string_view prelude(bool host) { return host ? "common/host/prelude.h" : "common/cuda/prelude.cuh"; }

// The quoted includes of a text, in order. Angle brackets reach nothing here: templates include no system header.
std::vector<std::string> includes_of(const std::string& text) {
  std::vector<std::string> found;
  std::size_t at = 0;
  while (at < text.size()) {
    const auto end = std::min(text.find('\n', at), text.size());
    std::string_view line(text.data() + at, end - at);
    at = end + 1;
    const auto skip = [&](std::string_view blanks) { line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size())); };
    skip(" \t");
    if (!line.starts_with('#')) continue;
    line.remove_prefix(1);
    skip(" \t");
    if (!line.starts_with("include")) continue;
    line.remove_prefix(7);
    skip(" \t");
    if (!line.starts_with('"')) continue;
    line.remove_prefix(1);
    if (const auto close = line.find('"'); close != std::string_view::npos) found.emplace_back(line.substr(0, close));
  }
  return found;
}

// A user's text, or one of the library's. Names under "common/" are the library's alone, so that nothing shadows the dialect.
const std::string* find_text(const KernelTemplate& kernel, const std::string& name) {
  if (!name.starts_with(kLibraryPrefix))
    if (const auto at = kernel.sources.find(name); at != kernel.sources.end()) return &at->second;
  const auto& embedded = embedded_templates();
  const auto at = embedded.find(name);
  return at == embedded.end() ? nullptr : &at->second;
}

std::int64_t value_or(const CompileRequest& request, std::string_view name, std::optional<std::int64_t> fallback) {
  if (const auto value = request.config.find(name)) return *value;
  if (const auto value = request.constants.find(name)) return *value;
  if (fallback) return *fallback;
  throw CompileError(fmt::format("kernel {}: neither config {} nor constants {} have '{}', which the launch bounds need",
                                 request.kernel->name, request.config.str(), request.constants.str(), name),
                     "", "", "", "");
}

void add_override(std::string& text, const std::string& defaults, const Config::Entry& entry) {
  // decltype keeps the default's type (int, bool, an enum's integer), and names the parameter in the error when there is none.
  text += fmt::format("  static constexpr decltype({0}::{1}) {1} = static_cast<decltype({0}::{1})>({2}LL);\n", defaults, entry.first,
                      entry.second);
}

}  // namespace

std::string generate_source(const CompileRequest& request, bool host) {
  const auto& kernel = *request.kernel;
  std::string text = fmt::format("#include \"{}\"\n#include \"{}\"\n\n", prelude(host), kernel.file);
  text += fmt::format("struct StropParams : {} {{\n", kernel.params);
  for (const auto& entry : request.constants.entries())
    if (!request.config.contains(entry.first)) add_override(text, kernel.params, entry);
  for (const auto& entry : request.config.entries()) add_override(text, kernel.params, entry);
  text += "};\n";
  text += fmt::format("static_assert(sizeof({0}) == {1}, \"host and device disagree on the size of {0}\");\n", kernel.args, kernel.args_size);
  text += fmt::format("STROP_ENTRY(strop_entry, {}, {}, {}, {}<StropParams>)\n", kernel.args, value_or(request, "threads", std::nullopt),
                      value_or(request, "min_blocks", 1), kernel.function);
  return text;
}

std::map<std::string, std::string> reachable_sources(const KernelTemplate& kernel, bool host) {
  std::map<std::string, std::string> reached;
  std::deque<std::pair<std::string, std::string>> open;  // name, who includes it
  open.emplace_back(prelude(host), "the generated source");
  open.emplace_back(kernel.file, "the generated source");
  for (; !open.empty(); open.pop_front()) {
    const auto& [name, includer] = open.front();
    if (reached.contains(name)) continue;
    const auto* text = find_text(kernel, name);
    if (text == nullptr)
      throw CompileError(fmt::format("kernel {}: '{}', included by {}, is neither among its sources nor in the library", kernel.name, name,
                                     includer),
                         "", "", "", "");
    reached.emplace(name, *text);
    for (auto& next : includes_of(*text)) open.emplace_back(std::move(next), name);
  }
  return reached;
}

}  // namespace strop::jit
