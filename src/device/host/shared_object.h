#pragma once

// A shared object loaded from bytes. It gets a name of its own (glibc answers dlopen of a name that it holds already
// with the old library), and no file stays behind: an anonymous memory file where the system lets us, else a temporary
// file that is removed at once. In a process with a sanitizer it is a file that stays until the object is destroyed,
// and is never unloaded: reports read it for file and line. Move-free; destroying unloads.

#include <string>
#include <string_view>

namespace strop::device::host {

class SharedObject {
 public:
  // Throws strop::Error with the loader's reason.
  explicit SharedObject(std::string_view bytes);
  ~SharedObject();
  SharedObject(const SharedObject&) = delete;
  SharedObject& operator=(const SharedObject&) = delete;

  // Null when there is no such symbol.
  void* symbol(const std::string& name) const;

 private:
  bool open_memory(std::string_view bytes, std::string& why);
  void open_file(std::string_view bytes, const std::string& before);

  int memory_ = -1;   // kept open while loaded: its number is the name
  std::string file_;  // to be removed
  void* handle_ = nullptr;
};

}  // namespace strop::device::host
