#include "src/engine/compile_pool.h"

#include <algorithm>

#include <fmt/format.h>

#include <system_error>

#include "src/base/format.h"
#include "src/base/log.h"

namespace strop::engine {
namespace {

// The line of a compiler's log that says most: the first with "error" in it.
std::string first_error(const CompileError& error) {
  const std::string& log = error.log();
  const auto at = log.find("error");
  if (at == std::string::npos) return error.what();
  const auto begin = log.rfind('\n', at);
  const auto from = begin == std::string::npos ? 0 : begin + 1;
  return log.substr(from, log.find('\n', at) - from);
}

// A message with a compiler's log behind it, as one line of a report.
std::string one_line(const std::string& text) {
  constexpr std::size_t kLongest = 500;
  std::string line;
  for (const char c : text.substr(0, kLongest)) line += c == '\n' ? ' ' : c;
  return text.size() > kLongest ? line + "..." : line;
}

std::shared_ptr<const Compiled> compile(Parts& parts, const Kernel& kernel, const jit::CompileRequest& request, const std::string& code,
                                        const std::string& ingredients) {
  auto result = std::make_shared<Compiled>();
  try {
    parts.toolchain->compiler();
    parts.compiler_opened = true;
  } catch (const Error& error) {
    result->error = error.what();
    result->no_compiler = true;
    return result;
  }
  ++parts.compiles;
  try {
    auto binary = parts.toolchain->compile(request);
    result->compile_ms = binary.compile_ms;
    result->binary = cache::StoredBinary{code,         binary.compiler,         binary.target,    kernel.source.name, binary.entry,
                                         ingredients,  std::move(binary.bytes), binary.resources, unix_now(),         unix_now()};
  } catch (const CompileError& error) {
    result->error = first_error(error);
    log::debug(fmt::format("{} {} does not compile: {}", kernel.source.name, request.config.str(), error.what()));
  } catch (const std::exception& error) {
    // A full disk, no memory: says nothing about the candidate, and must not be remembered against it.
    result->error = one_line(error.what());
    result->left_out = true;
  }
  return result;
}

std::shared_ptr<const Compiled> find_or_compile(Parts& parts, const Kernel& kernel, const jit::CompileRequest& request,
                                                const std::string& code, const std::string& ingredients) {
  const std::string compiler = parts.compiler_opened ? parts.toolchain->compiler().identity() : std::string{};
  if (auto stored = parts.store->find_binary(code, compiler)) {
    auto result = std::make_shared<Compiled>();
    result->binary = std::move(stored);
    result->from_store = true;
    return result;
  }
  return compile(parts, kernel, request, code, ingredients);
}

}  // namespace

std::shared_ptr<const Compiled> compile_now(Parts& parts, const Kernel& kernel, const Config& constants, const Config& config) {
  const auto request = parts.request(kernel, constants, config);
  const auto identity = jit::code_identity(request);
  return find_or_compile(parts, kernel, request, identity.digest(), identity.text());
}

std::shared_ptr<const Compiled> compile_anew(Parts& parts, const Kernel& kernel, const Config& constants, const Config& config) {
  const auto request = parts.request(kernel, constants, config);
  const auto identity = jit::code_identity(request);
  return compile(parts, kernel, request, identity.digest(), identity.text());
}

CompilePool::CompilePool(Parts& parts) : parts_(parts) {}

CompilePool::~CompilePool() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  cancel();
  wake_.notify_all();
  for (auto& thread : threads_) thread.join();
}

// One thread more, up to the bound. A machine that gives no more (a limit of processes) is no reason to stop with those there are.
void CompilePool::grow() {
  if (static_cast<int>(threads_.size()) >= parts_.compile_threads) return;
  try {
    threads_.emplace_back([this] { work(); });
  } catch (const std::system_error& error) {
    if (threads_.empty()) throw Error(fmt::format("no thread could be started for compiling: {}; see `ulimit -u` and the pids limit", error.what()));
  }
}

CompiledFuture CompilePool::submit(const Kernel& kernel, const Config& constants, const Config& config) {
  auto job = std::make_unique<Job>();
  job->kernel = &kernel;
  job->request = parts_.request(kernel, constants, config);
  const auto identity = jit::code_identity(job->request);
  job->code = identity.digest();
  job->ingredients = identity.text();
  const std::lock_guard lock(mutex_);
  if (const auto at = known_.find(job->code); at != known_.end()) return at->second;
  grow();
  CompiledFuture future = job->promise.get_future().share();
  known_.emplace(job->code, future);
  ++submitted_;
  queue_.push_back(std::move(job));
  wake_.notify_one();
  return future;
}

void CompilePool::cancel() {
  std::deque<std::unique_ptr<Job>> dropped;
  {
    const std::lock_guard lock(mutex_);
    dropped.swap(queue_);
    finished_ += static_cast<int>(dropped.size());
    for (const auto& job : dropped) known_.erase(job->code);
  }
  auto answer = std::make_shared<Compiled>();
  answer->error = "not compiled: the warmup was stopped";
  answer->no_compiler = true;
  for (auto& job : dropped) job->promise.set_value(answer);
}

int CompilePool::submitted() const {
  const std::lock_guard lock(mutex_);
  return submitted_;
}

int CompilePool::finished() const {
  const std::lock_guard lock(mutex_);
  return finished_;
}

void CompilePool::work() {
  for (;;) {
    std::unique_ptr<Job> job;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return stop_ || !queue_.empty(); });
      if (queue_.empty()) return;
      job = std::move(queue_.front());
      queue_.pop_front();
    }
    std::shared_ptr<const Compiled> result;
    std::exception_ptr failed;  // not even room to say what failed: who waits is told as it is
    try {
      result = run(*job);
    } catch (...) {
      failed = std::current_exception();
    }
    {
      const std::lock_guard lock(mutex_);
      ++finished_;
    }
    if (failed) job->promise.set_exception(failed);
    else job->promise.set_value(std::move(result));
  }
}

std::shared_ptr<const Compiled> CompilePool::run(const Job& job) {
  try {
    return find_or_compile(parts_, *job.kernel, job.request, job.code, job.ingredients);
  } catch (const std::exception& error) {
    auto answer = std::make_shared<Compiled>();
    answer->error = error.what();
    answer->left_out = true;
    return answer;
  }
}

}  // namespace strop::engine
