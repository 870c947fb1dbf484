#include "jit/nvrtc/locale_guard.h"

#include <clocale>
#include <mutex>

namespace strop::jit {
namespace {

std::mutex g_mutex;
int g_holders = 0;
std::string g_saved;

}  // namespace

LocaleGuard::LocaleGuard(bool needed) : needed_(needed) {
  if (!needed_) return;
  const std::lock_guard lock(g_mutex);
  if (g_holders++ == 0) g_saved = std::setlocale(LC_ALL, nullptr);
}

LocaleGuard::~LocaleGuard() {
  if (!needed_) return;
  const std::lock_guard lock(g_mutex);
  if (--g_holders == 0) std::setlocale(LC_ALL, g_saved.c_str());
}

}  // namespace strop::jit
