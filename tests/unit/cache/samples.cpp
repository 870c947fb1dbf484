#include "tests/unit/cache/samples.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "src/base/log.h"

namespace strop::cache::test {

EntryId entry_of(int width, const std::string& kernel) {
  Key key;
  key.add("B", 2).add("T", 4096).add("D", 2048).add("W", width).add("dtype", "bf16");
  return {kernel, key, "name=NVIDIA H200\nsm=90\nsms=132\n", "7e57" + std::string(60, '0')};
}

Environment environment_of(const std::string& driver) {
  return {"name=NVIDIA H200\nsm=90\nsms=132\n", "NVIDIA H200", driver, driver, "nvrtc 12.8 build 1f", "0.1.0", "GPU-0123"};
}

Winner winner_of(const EntryId& id, const std::string& code, const std::string& driver) {
  Winner winner;
  winner.id = id;
  winner.environment = environment_of(driver);
  winner.config = Config{{"rows", 16}, {"vec", 4}};
  winner.code = code;
  winner.time = {12.5, 0.25, 12.125, 40};
  winner.candidates = 18;
  winner.rejected = 3;
  winner.why = "4.1 % ahead of the next";
  winner.flags = "budget";
  winner.limit_us = 10.75;
  winner.tuned_at = 1764583200;
  winner.revalidated_at = 1764583300;
  winner.last_used = 1764583400;
  return winner;
}

StoredTrial trial_of(const EntryId& id, const std::string& code, int rows) {
  StoredTrial stored;
  stored.id = id;
  stored.environment = environment_of();
  stored.trial.config = Config{{"rows", rows}, {"vec", 4}};
  stored.trial.detail = "element 7";
  stored.trial.time = {13.5, 0.5, 13.0, 20};
  stored.trial.resources = {64, 0, 8, 16, 1024};
  stored.trial.dynamic_shared = 2048;
  stored.trial.compile_ms = 210.5;
  stored.code = code;
  stored.landed_at = 1764583100;
  return stored;
}

StoredBinary binary_of(const std::string& code, std::size_t bytes) {
  StoredBinary binary;
  binary.code = code;
  binary.compiler = environment_of().compiler;
  binary.target = "sm_90a";
  binary.kernel = "causal_conv1d";
  binary.entry = "conv_kernel";
  binary.ingredients = "template=7e57\nrows=16\n";
  while (binary.bytes.size() < bytes) binary.bytes += code + std::string(1, '\0');
  binary.bytes.resize(bytes);
  binary.resources = {64, 0, 8, 16, 1024};
  binary.created_at = 1764583000;
  return binary;
}

std::unique_ptr<Store> open_at(const std::string& path) {
  StoreOptions options;
  options.path = path;
  return Store::open(options);
}

void fill(const std::string& path, int count) {
  const auto store = open_at(path);
  for (int i = 0; i < count; ++i) {
    const auto id = entry_of(2 + i);
    const auto code = fmt::format("code{}", i);
    ASSERT_TRUE(store->put_trial(trial_of(id, code, 16)));
    ASSERT_TRUE(store->put_winner(winner_of(id, code), binary_of(code)));
  }
}

void expect_working(const std::string& path, bool lasting) {
  const auto id = entry_of(77);
  auto store = open_at(path);
  const bool stored = store->put_winner(winner_of(id, "working"), binary_of("working"));
  EXPECT_TRUE(stored || !lasting);
  for (int again = 0; again < 2; ++again) {
    const auto winner = store->find_winner(id);
    ASSERT_TRUE(winner.has_value());
    EXPECT_EQ(winner->config.str(), "{rows=16, vec=4}");
    const auto binary = store->find_binary("working", "");
    ASSERT_TRUE(binary.has_value());
    EXPECT_EQ(binary->bytes, binary_of("working").bytes);
    if (!lasting) return;
    store = open_at(path);
  }
  EXPECT_TRUE(store->verify(false).empty());
}

Warnings::Warnings() {
  log::set_sink(
      [](std::string_view, std::string_view line, void* user) {
        static_cast<std::vector<std::string>*>(user)->emplace_back(line);
      },
      &lines_);
}

Warnings::~Warnings() { log::set_sink(nullptr, nullptr); }

std::string Warnings::text() const { return fmt::format("{}", fmt::join(lines_, "\n")); }

RawDatabase::RawDatabase(const std::string& path) {
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  handle_.reset(handle);
  if (code != SQLITE_OK) throw std::runtime_error("opening " + path);
  sqlite3_busy_timeout(handle, 5000);
}

void RawDatabase::run(const std::string& sql) { rows(sql); }

std::string RawDatabase::rows(const std::string& sql) {
  std::string found;
  const auto add = [](void* to, int columns, char** values, char**) {
    auto& text = *static_cast<std::string*>(to);
    for (int i = 0; i < columns; ++i) text += fmt::format("{}{}", i == 0 ? "" : "|", values[i] == nullptr ? "" : values[i]);
    text += '\n';
    return 0;
  };
  if (sqlite3_exec(handle_.get(), sql.c_str(), add, &found, nullptr) != SQLITE_OK)
    throw std::runtime_error(fmt::format("{}: {}", sqlite3_errmsg(handle_.get()), sql));
  return found;
}

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_file(const std::string& path, const std::string& bytes) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << bytes;
  if (!out.flush()) throw std::runtime_error("writing " + path);
}

std::vector<std::string> set_aside_of(const std::string& path) {
  std::vector<std::string> found;
  for (const auto& file : std::filesystem::directory_iterator(std::filesystem::path(path).parent_path())) {
    const auto name = file.path().string();
    if (name.starts_with(path + ".broken-") && !name.ends_with("-wal") && !name.ends_with("-shm") && !name.ends_with("-journal"))
      found.push_back(name);
  }
  return found;
}

}  // namespace strop::cache::test
