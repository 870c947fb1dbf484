#pragma once

// The shape of the command: every subcommand lives in a file of its own, declares its options (declaration.h) and, when
// it is the one that was called, puts what is to be done into the session. main.cpp then does it and turns the outcome
// into an exit code. Data goes to standard output, progress and log to standard error.

#include <functional>
#include <string>

#include "strop/error.h"

namespace strop::cli {

// Exit codes, part of the interface: scripts rely on them.
inline constexpr int kDone = 0;
inline constexpr int kFailed = 1;
inline constexpr int kUsage = 2;

// The command line asks for what can't be meant; exit code 2.
class UsageError : public Error {
 public:
  using Error::Error;
};

struct Session {
  std::string cache;            // --cache: file or folder; empty: settings and rules
  bool json = false;            // --json of the subcommand that was called
  std::function<int()> action;  // what was asked for; returns the exit code
};

class Declaration;
void add_warmup(Declaration& command, const Session& session);
void add_bench(Declaration& command, const Session& session);
void add_cache(Declaration& command, const Session& session);  // the group, with the subcommands below
void add_doctor(Declaration& command, const Session& session);
void add_templates(Declaration& command, const Session& session);
void add_manual(Declaration& command);

void add_cache_list(Declaration& group, const Session& session);
void add_cache_show(Declaration& group, const Session& session);
void add_cache_stats(Declaration& group, const Session& session);
void add_cache_explain(Declaration& group, const Session& session);
void add_cache_verify(Declaration& group, const Session& session);
void add_cache_invalidate(Declaration& group, const Session& session);
void add_cache_revalidate(Declaration& group, const Session& session);
void add_cache_prune(Declaration& group, const Session& session);
void add_cache_path(Declaration& group, const Session& session);

}  // namespace strop::cli
