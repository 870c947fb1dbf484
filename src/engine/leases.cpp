#include "src/engine/leases.h"

#include <unistd.h>

#include <atomic>
#include <climits>
#include <fstream>
#include <sstream>
#include <vector>

#include <fmt/format.h>

#include "src/base/log.h"

namespace strop::engine {
namespace {

std::string first_word_of(const char* file) {
  std::ifstream in(file);
  std::string word;
  if (!(in >> word)) word.assign(1, '?');
  return word;
}

// In clock ticks since the boot: field 22, counted from behind the name, which may hold spaces. Empty: there is no such process, or it
// is dead and not yet waited for.
std::string start_of(const std::string& pid) {
  std::ifstream in(fmt::format("/proc/{}/stat", pid));
  std::string line;
  std::getline(in, line);
  const auto name_end = line.rfind(')');
  if (name_end == std::string::npos) return {};
  std::istringstream fields(line.substr(name_end + 1));
  std::string field, state;
  fields >> state;
  if (state == "Z" || state == "X") return {};
  for (int i = 4; i <= 22; ++i) fields >> field;
  return field;
}

// What must be equal for a process number to mean the same process.
std::string here() {
  std::string name(HOST_NAME_MAX + 1, '\0');
  if (gethostname(name.data(), name.size() - 1) != 0) name.clear();
  if (const auto end = name.find('\0'); end != std::string::npos) name.resize(end);
  std::string space(64, '\0');
  const auto length = readlink("/proc/self/ns/pid", space.data(), space.size());
  space.resize(length > 0 ? static_cast<std::size_t>(length) : 0);
  if (name.empty()) name.assign(1, '?');
  if (space.empty()) space.assign(1, '?');
  return fmt::format("{} {} {}", name, first_word_of("/proc/sys/kernel/random/boot_id"), space);
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

std::string for_people(const std::string& owner) {
  const auto words = words_of(owner);
  return words.size() == 6 ? fmt::format("process {} on {}", words[3], words[0]) : owner;
}

}  // namespace

std::string lease_owner() {
  static std::atomic<int> count{0};
  const auto pid = std::to_string(getpid());
  return fmt::format("{} {} {} {}", here(), pid, start_of(pid), ++count);
}

bool owner_is_gone(const std::string& owner) {
  const auto words = words_of(owner);
  if (words.size() != 6 || !owner.starts_with(fmt::format("{} ", here()))) return false;
  return start_of(words[3]) != words[4];
}

Leases::Leases(cache::Store& store, Times times) : store_(store), times_(times), owner_(lease_owner()) {}

Leases::~Leases() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  if (heart_.joinable()) heart_.join();
  for (const auto& [scope, lease] : held_) store_.release_lease(scope, owner_);
}

bool Leases::claim(const std::string& scope, const std::string& what, std::chrono::duration<double> patience, std::string* from) {
  const cache::Lease mine{scope, what, owner_, 0};
  const auto there = store_.find_lease(scope);
  const bool ours = !there || there->owner == owner_ ? store_.claim_lease(mine) : abandoned(*there, patience) && store_.take_over_lease(*there, mine);
  if (!ours) return false;
  if (from != nullptr && there && there->owner != owner_) *from = for_people(there->owner);
  const std::lock_guard lock(mutex_);
  held_.emplace(scope, mine);
  seen_.erase(scope);
  if (!heart_.joinable()) {
    try {
      heart_ = std::thread([this] { beat(); });
    } catch (const std::system_error&) {  // others take it for stopped after a while, and tune too: no harm but work
    }
  }
  return true;
}

bool Leases::abandoned(const cache::Lease& lease, std::chrono::duration<double> patience) {
  if (owner_is_gone(lease.owner)) return true;
  const auto now = std::chrono::steady_clock::now();
  const std::lock_guard lock(mutex_);
  auto& seen = seen_.try_emplace(lease.scope, Seen{lease, now, now}).first->second;
  if (seen.lease.owner != lease.owner) seen = {lease, now, now};
  if (seen.lease != lease) seen = {lease, seen.first, now};
  return now - seen.since > times_.still || now - seen.first > patience;
}

void Leases::release(const std::string& scope) {
  {
    const std::lock_guard lock(mutex_);
    if (held_.erase(scope) == 0) return;
  }
  store_.release_lease(scope, owner_);
}

std::string Leases::holder(const std::string& scope) {
  const auto there = store_.find_lease(scope);
  if (!there || there->owner == owner_) return {};
  return for_people(there->owner);
}

void Leases::beat() {
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, times_.beat, [&] { return stop_; })) {
    const auto held = held_;
    lock.unlock();
    for (const auto& [scope, lease] : held) store_.claim_lease(lease);
    lock.lock();
    // What was given back meanwhile must not live on.
    for (const auto& [scope, lease] : held)
      if (!held_.contains(scope)) store_.release_lease(scope, owner_);
  }
}

}  // namespace strop::engine
