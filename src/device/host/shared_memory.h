#pragma once

// The shared memory of the block that runs on a worker: one heap block of the exact size for each declaration, so that
// red zones of AddressSanitizer lie right behind it. Filled with 0xff (NaN in every type) before each block, so that
// reading what was never written shows. Used by one thread.

#include <cstddef>
#include <vector>

namespace strop::device::host {

class SharedMemory {
 public:
  SharedMemory() = default;
  ~SharedMemory() { clear(); }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  // Null when nothing was declared under the key yet.
  void* find(const void* key) const;
  void* add(const void* key, std::size_t bytes);  // throws std::bad_alloc
  void poison();
  void clear();
  std::size_t bytes() const { return bytes_; }

 private:
  struct Piece {
    const void* key;
    void* memory;
    std::size_t bytes;
  };
  std::vector<Piece> pieces_;
  std::size_t bytes_ = 0;
};

}  // namespace strop::device::host
