#include "src/device/host/shared_object.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>

#include "src/base/log.h"
#include "src/base/settings.h"
#include "src/device/host/sanitizer.h"
#include "strop/error.h"

namespace strop::device::host {
namespace {

bool write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t done = ::write(file, bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(done));
  }
  return true;
}

bool under_sanitizer() { return sanitizer::checks_addresses() || sanitizer::checks_threads(); }

// The loader maps what the headers promise and the first touch of a page that is not there ends the process, so a cut
// file must be seen before.
std::optional<std::string> why_damaged(std::string_view bytes) {
  Elf64_Ehdr header;
  if (bytes.size() < sizeof header) return "too short for a shared object";
  std::memcpy(&header, bytes.data(), sizeof header);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64)
    return "not a 64-bit shared object";
  const std::size_t size = bytes.size();
  if (header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phoff > size ||
      header.e_phnum > (size - header.e_phoff) / sizeof(Elf64_Phdr))
    return "its program headers are cut off";
  for (std::size_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    std::memcpy(&segment, bytes.data() + header.e_phoff + i * sizeof segment, sizeof segment);
    if (segment.p_type == PT_LOAD && (segment.p_offset > size || segment.p_filesz > size - segment.p_offset))
      return "its contents are cut off";
  }
  return std::nullopt;
}

std::string loader_reason() {
  const char* reason = dlerror();
  return reason ? reason : "no reason given";
}

}  // namespace

SharedObject::SharedObject(std::string_view bytes) {
  if (const auto damage = why_damaged(bytes)) throw Error(fmt::format("cannot load a host kernel: {}", *damage));
  std::string why;
  if (under_sanitizer() || !open_memory(bytes, why)) open_file(bytes, why);
}

SharedObject::~SharedObject() {
  if (handle_ && !under_sanitizer() && dlclose(handle_) != 0)
    log::warn(fmt::format("a host kernel could not be unloaded: {}", loader_reason()));
  if (memory_ >= 0) ::close(memory_);
  if (!file_.empty()) ::unlink(file_.c_str());
}

bool SharedObject::open_memory(std::string_view bytes, std::string& why) {
  memory_ = memfd_create("strop-kernel", MFD_CLOEXEC);
  if (memory_ < 0) {
    why = fmt::format("memfd_create: {}", std::strerror(errno));
    return false;
  }
  if (write_all(memory_, bytes)) {
    handle_ = dlopen(fmt::format("/proc/self/fd/{}", memory_).c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_) return true;
    why = loader_reason();
  } else {
    why = fmt::format("writing to memory: {}", std::strerror(errno));
  }
  ::close(memory_);
  memory_ = -1;
  return false;
}

void SharedObject::open_file(std::string_view bytes, const std::string& before) {
  std::string path = settings::foreign("TMPDIR").value_or("/tmp") + "/strop-kernel-XXXXXX";
  const int file = mkostemp(path.data(), O_CLOEXEC);
  if (file < 0) throw Error(fmt::format("cannot load a host kernel: {}: {}; {}", path, std::strerror(errno), before));
  file_ = path;
  const bool written = write_all(file, bytes);
  const std::string write_error = std::strerror(errno);
  ::close(file);
  std::string reason = write_error;
  if (written) {
    handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle_) reason = loader_reason();
  }
  if (!handle_ || !under_sanitizer()) {
    ::unlink(file_.c_str());
    file_.clear();
  }
  if (!handle_)
    throw Error(fmt::format("cannot load a host kernel: {}{}{}", reason, before.empty() ? "" : "; ", before));
}

void* SharedObject::symbol(const std::string& name) const { return dlsym(handle_, name.c_str()); }

}  // namespace strop::device::host
