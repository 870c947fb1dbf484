// The texts that a kernel's translation unit reaches. They are all that a compiler gets to see, and all that identities
// are made of.

#include <fmt/format.h>

#include <deque>
#include <string_view>

#include "jit/includes.h"
#include "jit/source.h"
#include "jit/toolchain.h"
#include "strop/error.h"

namespace strop::jit {
namespace {

constexpr std::string_view kReserved = "common/";

[[noreturn]] void refuse(const KernelTemplate& kernel, const std::string& why) {
  throw CompileError(fmt::format("kernel {}: {}", kernel.name, why), "", "", "", "");
}

// Names become file names for the host's compiler, and labels of identities.
void require_plain(const KernelTemplate& kernel, const std::string& name) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.+-/";
  const bool leaves = name.starts_with('/') || name.starts_with("../") || name.find("/../") != std::string::npos;
  if (name.empty() || leaves || name.find_first_not_of(kLetters) != std::string::npos)
    refuse(kernel, fmt::format("source name '{}' is not a relative path of letters, digits and _.+-/", name));
}

class Reach {
 public:
  Reach(const KernelTemplate& kernel, bool host) : kernel_(kernel) {
    for (const auto& [name, text] : kernel.sources)
      if (name.starts_with(kReserved))
        refuse(kernel, fmt::format("source '{}': names under '{}' are the library's; choose another", name, kReserved));
    open_.push_back({std::string(prelude(host)), "the generated source"});
    open_.push_back({kernel.file, "the generated source"});
  }

  std::map<std::string, std::string> walk() {
    for (; !open_.empty(); open_.pop_front()) {
      const Asked& asked = open_.front();
      if (reached_.contains(asked.name)) continue;
      require_plain(kernel_, asked.name);
      const std::string* text = find(asked.name);
      if (text == nullptr) missing(asked);
      reached_.emplace(asked.name, *text);
      for (auto& include : includes_of(*text)) enter(asked.name, std::move(include));
    }
    return std::move(reached_);
  }

 private:
  struct Asked {
    std::string name;
    std::string includer;
  };

  const std::string* find(const std::string& name) const {
    if (const auto at = kernel_.sources.find(name); at != kernel_.sources.end()) return &at->second;
    const auto at = embedded_templates().find(name);
    return at == embedded_templates().end() ? nullptr : &at->second;
  }

  // The same name taken from the includer's folder, where a preprocessor looks first; empty when that is the same
  // place.
  static std::string beside(const std::string& includer, const std::string& name) {
    const auto slash = includer.rfind('/');
    return slash == std::string::npos ? std::string{} : includer.substr(0, slash + 1) + name;
  }

  void enter(const std::string& includer, Include include) {
    if (include.form != Include::Form::quoted) {
      // The library's own headers have one for editors. Elsewhere it would bring in text that no identity knows.
      if (includer.starts_with(kReserved)) return;
      refuse(
          kernel_,
          fmt::format("{} includes {}: a template includes nothing but \"common/...\" and its own sources, in quotes",
                      includer, include.form == Include::Form::angle ? '<' + include.name + '>' : include.name));
    }
    const auto near = beside(includer, include.name);
    if (!near.empty() && find(near) != nullptr && find(include.name) != nullptr)
      refuse(kernel_, fmt::format("{} includes '{}', which may be '{}' or '{}': rename one", includer, include.name,
                                  include.name, near));
    open_.push_back({std::move(include.name), includer});
  }

  [[noreturn]] void missing(const Asked& asked) const {
    const auto near = beside(asked.includer, asked.name);
    const bool hint = !near.empty() && find(near) != nullptr;
    refuse(kernel_, fmt::format("'{}', included by {}, is neither among its sources nor in the library{}", asked.name,
                                asked.includer, hint ? fmt::format("; write it from the root: \"{}\"", near) : ""));
  }

  const KernelTemplate& kernel_;
  std::map<std::string, std::string> reached_;
  std::deque<Asked> open_;
};

}  // namespace

std::map<std::string, std::string> reachable_sources(const KernelTemplate& kernel, bool host) {
  return Reach(kernel, host).walk();
}

}  // namespace strop::jit
