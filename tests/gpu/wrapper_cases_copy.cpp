// Asynchronous copies, loads and stores.

#include <string>

#include "tests/gpu/wrapper_cases.h"

namespace strop::conformance {
namespace {

using Words = std::vector<std::uint32_t>;

constexpr std::uint32_t kUntouched = 0xabababab;

WrapperCase async_copy_case(std::uint32_t bytes) {
  constexpr std::uint32_t kThreads = 64, kStages = 4;
  const std::uint32_t words = bytes / 4, stage = kThreads * words;
  WrapperCase c{.name = "async_copy_" + std::to_string(bytes),
                .file = "wrappers/async_copy.cuh",
                .function = "async_copy",
                .params = "AsyncCopyParams",
                .config = {{"threads", kThreads}, {"bytes", bytes}}};
  c.in = random_words(kStages * stage, 0x7fffffff, 7);
  for (std::uint32_t s = 0; s < kStages; ++s) {
    for (std::uint32_t t = 0; t < kThreads; ++t) {
      const std::uint32_t from = (t + 1) % kThreads;
      const std::uint32_t copied = from % 3 == 0 ? 0 : from % 5 == 0 ? bytes / 2 : bytes;
      for (std::uint32_t w = 0; w < words; ++w) {
        std::uint32_t v = c.in[s * stage + from * words + w];
        if (copied <= w * 4) v = 0;
        if (copied == w * 4 + 2) v &= 0xffff;
        c.expected.push_back(v);
      }
    }
  }
  return c;
}

WrapperCase bulk_copy_case() {
  constexpr std::uint32_t kTiles = 6, kWords = 256;
  WrapperCase c{.name = "bulk_copies_and_mbarriers",
                .file = "wrappers/bulk_copy.cuh",
                .function = "bulk_copy_ring",
                .params = "BulkCopyParams",
                .config = {{"threads", 160}},
                .dynamic_shared = 2 * kWords * 4,
                .needs_sm = 90};
  c.in = random_words(kTiles * kWords, 0x7fffffff, 8);
  for (std::uint32_t tile = 0; tile < kTiles; ++tile)
    for (std::uint32_t i = 0; i < kWords; ++i) c.expected.push_back(c.in[tile * kWords + kWords - 1 - i] + 1);
  return c;
}

// 2-byte elements in words, to be written at any place.
class Halves {
 public:
  explicit Halves(Words& words) : words_(words) {}
  std::uint32_t get(std::size_t i) const { return words_[i / 2] >> (i % 2 * 16) & 0xffff; }
  void set(std::size_t i, std::uint32_t v) {
    const std::uint32_t shift = i % 2 * 16;
    words_[i / 2] = (words_[i / 2] & ~(0xffffu << shift)) | v << shift;
  }

 private:
  Words& words_;
};

WrapperCase pack_case(std::uint32_t elements, int hint) {
  constexpr std::uint32_t kThreads = 32;
  WrapperCase c{.name = "packs_of_" + std::to_string(2 * elements) + "_bytes_hint_" + std::to_string(hint),
                .file = "wrappers/memory.cuh",
                .function = "pack_copy",
                .params = "MemoryParams",
                .config = {{"threads", kThreads}, {"elements", elements}, {"hint", hint}}};
  const std::uint32_t all = kThreads * elements;
  c.in = random_words(all / 2, 0x7fffffff, 9);
  c.count = all - elements / 2 - 1;
  c.initial.assign(4 * all / 2, kUntouched);
  c.expected = c.initial;
  Halves in(c.in), out(c.expected);
  for (std::uint32_t i = 0; i < all; ++i) {
    const std::uint32_t thread = i / elements;
    out.set(i, in.get(i));
    out.set(all + i, thread % 3 != 0 ? in.get(i) : 0);
    if (i < c.count) out.set(2 * all + i, i + 1 < c.count ? in.get(i) : 0);
    if (thread % 3 != 1) out.set(3 * all + i, in.get(i));
  }
  return c;
}

WrapperCase byte_case(int hint) {
  WrapperCase c{.name = "bytes_hint_" + std::to_string(hint),
                .file = "wrappers/memory.cuh",
                .function = "byte_copy",
                .params = "MemoryParams",
                .config = {{"threads", 32}, {"hint", hint}}};
  c.in = random_words(8, 0x7fffffff, 10);
  c.initial.assign(24, kUntouched);
  c.expected = c.in;
  for (const std::uint32_t v : c.in) c.expected.push_back(v & 0x00ff00ffu);
  for (const std::uint32_t v : c.in) c.expected.push_back((v & 0x00ff00ffu) | (kUntouched & 0xff00ff00u));
  return c;
}

WrapperCase value_case(std::uint32_t elements) {
  constexpr std::uint32_t kThreads = 32;
  WrapperCase c{.name = "values_" + std::to_string(elements),
                .file = "wrappers/memory.cuh",
                .function = "value_copy",
                .params = "MemoryParams",
                .config = {{"threads", kThreads}, {"elements", elements}, {"hint", 1}}};
  const std::uint32_t all = kThreads * elements;
  c.count = all - 3;
  c.initial.assign(all + all, kUntouched);
  c.expected = c.initial;
  Halves out(c.expected);
  // Doubled, the integers 0 to 62 as fp16: exponent 15 + e, mantissa left aligned.
  auto half_of = [](std::uint32_t v) {
    if (v == 0) return 0u;
    const std::uint32_t e = 31 - static_cast<std::uint32_t>(__builtin_clz(v));
    return (15 + e) << 10 | ((v << (10 - e)) & 0x3ff);
  };
  const Words values = random_words(all, 32, 11);
  for (std::uint32_t i = 0; i < all; ++i) {
    c.in.push_back(bits_of(static_cast<float>(values[i])));
    out.set(i, half_of(2 * values[i]));
    // The second copy starts after `all` floats, the first fills half of them.
    if (i < c.count) c.expected[all + i] = bits_of(static_cast<float>(2 * values[i]));
  }
  return c;
}

}  // namespace

std::vector<WrapperCase> copy_cases() {
  return {async_copy_case(4), async_copy_case(8), async_copy_case(16), bulk_copy_case()};
}

std::vector<WrapperCase> memory_cases() {
  std::vector<WrapperCase> cases;
  for (const std::uint32_t elements : {1, 2, 4, 8, 16})
    for (int hint = 0; hint < 5; ++hint) cases.push_back(pack_case(elements, hint));
  for (int hint = 0; hint < 5; ++hint) cases.push_back(byte_case(hint));
  for (const std::uint32_t elements : {2, 4, 8}) cases.push_back(value_case(elements));
  return cases;
}

}  // namespace strop::conformance
