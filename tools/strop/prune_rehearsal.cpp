#include "tools/strop/prune_rehearsal.h"

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <set>

#include "jit/host/temporary_folder.h"
#include "strop/error.h"

namespace strop::cli {
namespace {

namespace fs = std::filesystem;

constexpr int kAttempts = 5;

// Database and log are two files, which a writer may change between the copying of one and of the other: this tells.
struct Stamp {
  std::uintmax_t size = 0;
  std::optional<fs::file_time_type> written;
  friend bool operator==(const Stamp&, const Stamp&) = default;
};

Stamp stamp_of(const std::string& file) {
  std::error_code failed;
  Stamp stamp;
  const auto written = fs::last_write_time(file, failed);
  if (failed) return stamp;
  stamp.written = written;
  stamp.size = fs::file_size(file, failed);
  return stamp;
}

void copy_or_remove(const std::string& from, const std::string& to) {
  std::error_code failed;
  fs::remove(to, failed);
  if (!fs::exists(from, failed)) return;
  fs::copy_file(from, to, fs::copy_options::overwrite_existing, failed);
  if (failed)
    throw Error(fmt::format("a dry run prunes a copy, and {} could not be copied to {}: {}; is there room at TMPDIR?",
                            from, to, failed.message()));
}

void copy_database(const std::string& from, const std::string& to) {
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const std::pair before(stamp_of(from), stamp_of(from + "-wal"));
    copy_or_remove(from, to);
    copy_or_remove(from + "-wal", to + "-wal");
    if (before == std::pair(stamp_of(from), stamp_of(from + "-wal"))) return;
  }
  throw Error(
      fmt::format("{} is being written by others, so what a prune would remove can't be told; try again", from));
}

}  // namespace

PruneRehearsal rehearse_prune(const std::string& path, std::uint64_t max_bytes) {
  const jit::TemporaryFolder folder;
  cache::StoreOptions options;
  options.path = folder.path() + "/strop.db";
  copy_database(path, options.path);
  const auto store = cache::Store::open(options);
  const auto before = store->stats();
  auto winners = store->list();
  auto binaries = store->binaries();

  PruneRehearsal rehearsal;
  rehearsal.freed_bytes = store->prune(max_bytes);
  rehearsal.trials = before.trials - store->stats().trials;
  std::set<std::string> ids, codes;
  for (const auto& winner : store->list()) ids.insert(cache::handle(winner.id));
  for (const auto& binary : store->binaries()) codes.insert(binary.code + binary.compiler);
  for (auto& winner : winners)
    if (!ids.contains(cache::handle(winner.id))) rehearsal.entries.push_back(std::move(winner));
  for (auto& binary : binaries)
    if (!codes.contains(binary.code + binary.compiler)) rehearsal.binaries.push_back(std::move(binary));
  return rehearsal;
}

}  // namespace strop::cli
