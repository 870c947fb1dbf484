#pragma once

// The store: one SQLite database (WAL) a user and node with winners, trials, binaries and environments. Knows no kernels, no CUDA
// and no compilers: identities come in as text. Thread-safe, and safe among any number of processes.
//
// A damaged, locked, read-only, full or missing database is one warning in the log and a working store (set aside and rebuilt, or in
// memory); methods that serve tuning and launching never throw. Methods that serve the command (invalidate, prune, verify) throw
// CacheError when the request itself can't be carried out. Another process that holds the database delays a process by the busy
// timeout once, while opening too: until it lets go, writes are tried for a moment only and owed, and what is owed is written when it
// can be, at the latest when the store is closed (one more second for all). Format: docs/cache_format.md.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "strop/key.h"
#include "strop/trial.h"

namespace strop::cache {

// What a winner's timing depends on besides key and config. Device class decides between entries; the rest makes them suspect.
struct Environment {
  std::string device_class;      // DeviceFacts::device_class(): labelled text
  std::string device_name;       // for people
  std::string driver;            // full version; "unknown" is no evidence of change
  std::string driver_user_mode;
  std::string compiler;          // Compiler::identity(); "unknown" likewise
  std::string strop_version;
  std::string device_uuid;       // provenance
  friend bool operator==(const Environment&, const Environment&) = default;
};

// Names one tuning: a kernel's key on a device class, for one state of template and space.
struct EntryId {
  std::string kernel;
  Key key;
  std::string device_class;
  std::string template_digest;   // of template_identity + Space::describe()
};

struct Winner {
  EntryId id;
  Environment environment;
  Config config;
  std::string code;              // code digest of its binary
  Measurement time;
  int candidates = 0;
  int rejected = 0;
  std::string why;               // why it won: margin, ties
  std::string flags;             // comma-separated words: "tainted"; "budget", "unsettled": not every candidate was judged
  double limit_us = 0;           // time at the memory limit; 0: not known
  std::int64_t tuned_at = 0;     // unix seconds
  std::int64_t revalidated_at = 0;
  std::int64_t last_used = 0;
};

struct StoredTrial {
  EntryId id;
  Environment environment;
  Trial trial;
  std::string code;
  std::int64_t landed_at = 0;
};

struct StoredBinary {
  std::string code;              // Binary::code
  std::string compiler;
  std::string target;
  std::string kernel;
  std::string entry;
  std::string ingredients;       // code identity as text, for explanations
  std::string bytes;
  Resources resources;
  std::int64_t created_at = 0;
  std::int64_t last_used = 0;
};

// Which process tunes what, so that others wait for its winners instead of finding their own. A courtesy, not a lock: who waited long
// enough goes on without it, and every write is right without any.
struct Lease {
  std::string scope;       // what is tuned, as a digest
  std::string what;        // the same for people
  std::string owner;       // one tuning of one process
  std::int64_t beats = 0;  // grows while the owner lives: no clocks are compared
  friend bool operator==(const Lease&, const Lease&) = default;
};

// Selects winners; empty fields match everything. All conditions must hold.
struct Filter {
  std::string kernel;            // exact, or with '*' and '?' (nothing else is special)
  std::string key;               // a winner's handle (see `handle`), or fields "D=2048 W=4" that must all be in the key
  std::string device;            // its kind exactly (host), or part of its name whatever the case
  std::string driver;            // version condition: "<590", "<=580.95", "=580.159.03", ">570"; no operator means "="
  std::optional<std::int64_t> older_than_s;  // tuned (or revalidated) at least so long ago
};

struct StoreOptions {
  std::string path;              // file; empty: in memory
  bool read_only = false;        // for commands that look: creates nothing, never sets aside
  int busy_timeout_ms = 5000;
  std::uint64_t max_bytes = 0;   // 0: no bound; past it binaries and then winners go, by last use
};

struct Stats {
  std::string path;
  std::uint64_t file_bytes = 0;
  std::int64_t winners = 0, trials = 0, binaries = 0, environments = 0;
  std::uint64_t binary_bytes = 0;
  int format = 0;
};

struct Damage {                  // one finding of `verify`
  std::string what;              // "binary 1f3a...: checksum differs"
  bool repaired = false;
};

class Store {
 public:
  static std::unique_ptr<Store> open(const StoreOptions& options);
  virtual ~Store() = default;

  virtual std::string path() const = 0;  // empty: memory only; another one after damage, so by value
  virtual bool writable() const = 0;            // also true while another process holds it
  // Why what is at the path is not served or not writable, with what to do; empty: nothing to say.
  virtual std::string trouble() const { return {}; }

  // --- serving calls: never throw ---
  virtual std::optional<Winner> find_winner(const EntryId& id) = 0;
  // Winners of the same kernel, device class and template, whatever the key.
  virtual std::vector<Winner> winners_of(const EntryId& id) = 0;
  virtual std::optional<StoredBinary> find_binary(const std::string& code, const std::string& preferred_compiler) = 0;
  virtual std::vector<StoredTrial> trials_of(const EntryId& id) = 0;
  // Winner and its binary in one transaction. A winner replaces the one before it for the same id; other candidates' binaries of the
  // tuning are not kept. False: not stored (and warned).
  virtual bool put_winner(const Winner& winner, const std::optional<StoredBinary>& binary) = 0;
  virtual bool put_trial(const StoredTrial& trial) = 0;
  // `kept`: made for its own sake (--compile-only), so it stays without a winner; else it goes with the next prune that finds none.
  virtual bool put_binary(const StoredBinary& binary, bool kept) = 0;
  virtual void touch(const EntryId& id) = 0;                // last use; cheap, may be coarse
  // Takes what nobody has, or lets the own heart beat; take over: what `seen` has, unless it changed since. False: somebody else has it. Where nothing can be written nobody else can look either, and every claim succeeds.
  virtual std::optional<Lease> find_lease(const std::string& scope) = 0;
  virtual bool claim_lease(const Lease& mine) = 0;
  virtual bool take_over_lease(const Lease& seen, const Lease& mine) = 0;
  virtual void release_lease(const std::string& scope, const std::string& owner) = 0;

  // --- serving the command ---
  virtual std::vector<Winner> list(const Filter& filter = {}) = 0;
  // Tunings without a winner: interrupted, or failed. Without config and time; `candidates` and `rejected` count the trials stored,
  // `tuned_at` is when the last one landed.
  virtual std::vector<Winner> unfinished(const Filter& filter = {}) = 0;
  virtual std::vector<Winner> remove(const std::vector<Winner>& winners) = 0;  // with their trials and unreferenced binaries; returns what went
  virtual std::vector<StoredBinary> binaries() = 0;         // bytes left empty, size in `ingredients`-free form; see Stats for totals
  virtual Stats stats() = 0;
  virtual std::vector<Damage> verify(bool repair) = 0;      // integrity check, checksums, references
  // Removes what nothing refers to, applies the size bound, and gives the space back to the file system.
  virtual std::uint64_t prune(std::uint64_t max_bytes) = 0; // returns bytes freed
};

// Short name of an entry, stable: first 12 hex digits of the digest of its id. What the command accepts as KEY.
std::string handle(const EntryId& id);
bool matches(const Winner& winner, const Filter& filter);   // throws CacheError for a malformed condition
void require_well_formed(const Filter& filter);             // throws it whatever is stored; `list` asks first

// Where the database is, by the rules of docs/settings.md: explicit, setting, $XDG_CACHE_HOME/strop, $HOME/.cache/strop, a private
// folder under the temporary directory, memory. Creates the folder (0700, CACHEDIR.TAG) unless `create` is false.
struct Place {
  std::string path;   // empty: memory only
  std::string rule;   // "setting STROP_CACHE", "$XDG_CACHE_HOME/strop", ...
  std::string note;   // why a better place was passed over
  bool network = false;  // on a network file system: WAL is not used
};
Place find_place(const std::string& explicit_path, bool create);

}  // namespace strop::cache
