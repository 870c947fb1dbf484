#include "src/device/host/shared_memory.h"

#include <cstdlib>
#include <cstring>
#include <new>

namespace strop::device::host {
namespace {
constexpr std::size_t kAlign = 128;  // what the CUDA side declares
constexpr int kPoison = 0xff;
}  // namespace

void* SharedMemory::find(const void* key) const {
  for (const Piece& piece : pieces_)
    if (piece.key == key) return piece.memory;
  return nullptr;
}

void* SharedMemory::add(const void* key, std::size_t bytes) {
  pieces_.reserve(pieces_.size() + 1);
  void* memory = nullptr;
  if (posix_memalign(&memory, kAlign, bytes) != 0) throw std::bad_alloc();
  std::memset(memory, kPoison, bytes);
  pieces_.push_back({key, memory, bytes});
  bytes_ += bytes;
  return memory;
}

void SharedMemory::poison() {
  for (const Piece& piece : pieces_) std::memset(piece.memory, kPoison, piece.bytes);
}

void SharedMemory::clear() {
  for (const Piece& piece : pieces_) std::free(piece.memory);
  pieces_.clear();
  bytes_ = 0;
}

}  // namespace strop::device::host
