#pragma once

// A piece of a test in a process of its own (the tests start no threads, so that fork is all it takes).

#include <sys/types.h>

#include <functional>

namespace strop::cache::test {

// Starts `work`; the child ends with its value, or 99 after an exception.
pid_t start(const std::function<int()>& work);
// Exit code, or minus the signal that ended it.
int finish(pid_t child);
// Runs `work` as a user for whom file permissions count. Its value, or kNotPossible.
inline constexpr int kNotPossible = 98;
int run_as_nobody(const std::function<int()>& work);

}  // namespace strop::cache::test
