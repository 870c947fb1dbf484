#include "src/device/cuda/pointers.h"

#include <array>
#include <cstdint>

#include <fmt/format.h>

namespace strop::device::cuda {
namespace {

struct Memory {
  CUmemorytype type{};  // 0: the driver does not know the address
  int ordinal = -1;
  unsigned managed = 0;
};

// Unknown addresses are answered with zeros and no error. Old drivers fail instead, for which they are unknown too.
Memory ask(const Driver& driver, const void* pointer) {
  Memory memory;
  std::array<CUpointer_attribute, 3> wanted{CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                                            CU_POINTER_ATTRIBUTE_IS_MANAGED};
  std::array<void*, 3> answers{&memory.type, &memory.ordinal, &memory.managed};
  const auto result = driver.cuPointerGetAttributes(static_cast<unsigned>(wanted.size()), wanted.data(), answers.data(),
                                                    reinterpret_cast<CUdeviceptr>(pointer));
  return result == CUDA_SUCCESS ? memory : Memory{};
}

bool reaches(const Memory& memory, int ordinal, bool pageable) {
  if (memory.type == CU_MEMORYTYPE_DEVICE) return memory.managed != 0 || memory.ordinal == ordinal;
  return memory.type == CU_MEMORYTYPE_HOST || pageable;  // the driver's own host memory is mapped for every device
}

struct Seen {
  const void* pointer = nullptr;
  int ordinal = -1;
};
constexpr std::size_t kSeen = 256;
constexpr std::chrono::seconds kRemembered{1};  // asking each time would cost more than the launch

struct Memo {
  std::array<Seen, kSeen> seen{};
  std::chrono::steady_clock::time_point since{};
};
thread_local Memo memo;

}  // namespace

std::size_t first_unreachable(const Driver& driver, int ordinal, bool pageable, std::span<const void* const> pointers,
                              std::chrono::steady_clock::time_point now) {
  if (now - memo.since >= kRemembered) memo = {{}, now};
  for (std::size_t i = 0; i < pointers.size(); ++i) {
    if (pointers[i] == nullptr) continue;
    const auto bits = reinterpret_cast<std::uintptr_t>(pointers[i]);
    auto& last = memo.seen[(bits >> 4 ^ bits >> 12 ^ bits >> 21) % kSeen];
    if (last.pointer == pointers[i] && last.ordinal == ordinal) [[likely]]
      continue;
    if (!reaches(ask(driver, pointers[i]), ordinal, pageable)) return i;
    last = {pointers[i], ordinal};
  }
  return pointers.size();
}

std::string describe_pointer(const Driver& driver, const void* pointer) {
  const auto memory = ask(driver, pointer);
  if (memory.type == CU_MEMORYTYPE_DEVICE) return fmt::format("memory of cuda:{}", memory.ordinal);
  return "memory of the host, or freed";
}

}  // namespace strop::device::cuda
