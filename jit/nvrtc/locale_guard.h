#pragma once

// NVRTC before 12.6.2 sets the process's locale; a decimal comma would come into whatever the application formats next.
// Holds the locale as it was while any compile is running, and puts it back after the last: a compile that ends while
// another runs would otherwise save, and later restore, what NVRTC had set.

#include <string>

namespace strop::jit {

class LocaleGuard {
 public:
  explicit LocaleGuard(bool needed);
  ~LocaleGuard();
  LocaleGuard(const LocaleGuard&) = delete;
  LocaleGuard& operator=(const LocaleGuard&) = delete;

 private:
  bool needed_;
};

}  // namespace strop::jit
