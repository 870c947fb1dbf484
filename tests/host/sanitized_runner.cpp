// One kernel under a sanitizer, in a process of its own: a finding ends the process. Two programs are made of this
// file, sanitized_runner_address (AddressSanitizer and UndefinedBehaviorSanitizer) and sanitized_runner_thread
// (ThreadSanitizer, each CUDA thread a thread of its own to it); only the kernel is instrumented.
//
//     sanitized_runner_thread wrapper block_barrier            a conformance case
//     sanitized_runner_address fault shared_overrun [fixed]    a kernel of tests/host/faults, wrong or put right
//     sanitized_runner_thread problem planted "{plant=4, threads=64}" [--order reverse|random] [--seed 7]
//                                                              a registered problem (problem_cases.h) with a candidate
//                                                              config
//     sanitized_runner_address space PROBLEM ...               every config of its space, or with --where "{staging=2}"
//                                                              those that have these values, with --distinct NAME,NAME
//                                                              one of each combination of these parameters, with --first
//                                                              the first; with --edit FILE BEFORE AFTER of a template
//                                                              that is changed there
//     sanitized_runner_address list                            the names
//
// Exit code 0 and "clean" when the sanitizer found nothing and the result is right; 1 with a reason on stderr when the
// result is wrong or a launch failed; the sanitizer's own code and report otherwise.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "src/base/format.h"
#include "src/device/host/host_device.h"
#include "strop/error.h"
#include "tests/gpu/wrapper_cases.h"
#include "tests/host/build.h"
#include "tests/host/fault_kernel.h"
#include "tests/host/problem_cases.h"
#include "tests/host/problem_run.h"
#include "tests/host/space_run.h"
#include "tests/host/wrapper_run.h"

// Fake stacks and switches of stacks do not go together; blocks of up to 1024 threads are many stacks. Red zones of several rows: a row
// before the first one must not be the end of the buffer before.
extern "C" [[gnu::visibility("default")]] const char* __asan_default_options() {
  return "detect_stack_use_after_return=0:abort_on_error=0:redzone=2048";
}
extern "C" [[gnu::visibility("default")]] const char* __tsan_default_options() { return "halt_on_error=1:exitcode=66"; }

namespace strop::host_test {
namespace {

using device::host::HostDevice;
using device::host::Order;
using device::host::RunOptions;

const std::vector<std::string> kFlags{"-g", "-fno-omit-frame-pointer", "-fno-sanitize-recover=all",
                                      "-fsanitize=" STROP_RUNNER_SANITIZER};

struct Request {
  std::vector<std::string> words;
  RunOptions options{.livelock_seconds = 20};
  SpaceRun space;
};

Config config_of(const std::string& text) {
  const auto config = Config::parse(text);
  if (!config) throw Error(fmt::format("'{}' is not a config", text));
  return *config;
}

std::vector<std::string> split(const std::string& names) {
  std::vector<std::string> all(1);
  for (const char c : names)
    if (c == ',') all.emplace_back();
    else all.back() += c;
  return all;
}

Request parse(int argc, char** argv) {
  Request request;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const bool last = i + 1 == argc;
    if (word == "--order" && !last) {
      const std::string order = argv[++i];
      request.options.order = order == "reverse" ? Order::reverse : order == "random" ? Order::random : Order::forward;
    } else if (word == "--seed" && !last) {
      request.options.seed = static_cast<unsigned>(to_int(argv[++i]).value_or(1));
    } else if (word == "--where" && !last) {
      request.space.where = config_of(argv[++i]);
    } else if (word == "--distinct" && !last) {
      request.space.distinct = split(argv[++i]);
    } else if (word == "--first") {
      request.space.first = true;
    } else if (word == "--edit" && i + 3 < argc) {
      request.space.edits.push_back({argv[i + 1], argv[i + 2], argv[i + 3]});
      i += 3;
    } else {
      request.words.push_back(word);
    }
  }
  return request;
}

void run_wrapper(HostDevice& device, const std::string& name) {
  for (const conformance::WrapperCase& c : conformance::wrapper_cases()) {
    if (c.name != name) continue;
    const auto binary = build(conformance::wrapper_template(c), c.config, kFlags);
    const std::string wrong = conformance::difference(c, conformance::run_case(device, c, binary));
    if (!wrong.empty()) throw Error(wrong);
    return;
  }
  throw Error(fmt::format("there is no conformance case '{}'", name));
}

void run_named_problem(HostDevice& device, const std::string& name, const std::string& text) {
  const auto found = problem_cases().find(name);
  if (found == problem_cases().end()) throw Error(fmt::format("there is no problem '{}'", name));
  const auto config = config_of(text);
  const ProblemCase c = found->second();
  if (const auto wrong = run_problem(device, c.kernel.source, *c.problem, config, kFlags)) throw Error(*wrong);
}

int list() {
  for (const auto& c : conformance::wrapper_cases()) fmt::print("wrapper {}\n", c.name);
  for (const auto& [name, make] : problem_cases()) fmt::print("problem {}\n", name);
  return 0;
}

int run(const Request& request) {
  const auto& words = request.words;
  if (words.size() == 1 && words[0] == "list") return list();
  HostDevice device;
  device.set_run_options(request.options);
  if (words.size() == 2 && words[0] == "wrapper") {
    run_wrapper(device, words[1]);
  } else if ((words.size() == 2 || words.size() == 3) && words[0] == "fault") {
    run_fault(device, {.function = words[1], .fixed = words.size() == 3, .flags = kFlags});
  } else if (words.size() == 3 && words[0] == "problem") {
    run_named_problem(device, words[1], words[2]);
  } else if (words.size() >= 2 && words[0] == "space") {
    SpaceRun space = request.space;
    space.problems.assign(words.begin() + 1, words.end());
    space.flags = kFlags;
    run_space(device, space);
  } else {
    fmt::print(stderr, "usage: wrapper NAME | fault NAME [fixed] | problem NAME CONFIG | space NAME ... | list, not '{}'\n",
               fmt::join(words, " "));
    return 2;
  }
  fmt::print("clean\n");
  return 0;
}

}  // namespace
}  // namespace strop::host_test

int main(int argc, char** argv) {
  try {
    return strop::host_test::run(strop::host_test::parse(argc, argv));
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
