#include "jit/nvrtc/elf.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <vector>

#include "src/base/digest.h"
#include "src/base/format.h"

namespace strop::jit {
namespace {

// A copy of the struct at `offset`; empty when the bytes end before it does.
template <class T>
std::optional<T> read_at(std::string_view bytes, std::size_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

std::string_view slice(std::string_view bytes, std::size_t offset, std::size_t size) {
  if (offset > bytes.size() || bytes.size() - offset < size) return {};
  return bytes.substr(offset, size);
}

std::string hex(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return text;
}

std::string build_id_note(std::string_view notes) {
  while (const auto header = read_at<Elf64_Nhdr>(notes, 0)) {
    const std::size_t name = (header->n_namesz + 3U) & ~std::size_t{3};
    const std::size_t description = (header->n_descsz + 3U) & ~std::size_t{3};
    if (header->n_type == NT_GNU_BUILD_ID && slice(notes, sizeof *header, 3) == "GNU")
      return hex(slice(notes, sizeof *header + name, header->n_descsz));
    const std::size_t whole = sizeof *header + name + description;
    if (whole > notes.size()) break;
    notes.remove_prefix(whole);
  }
  return {};
}

struct Section {
  std::string_view name;
  Elf64_Shdr header;
};

std::vector<Section> sections_of(std::string_view elf) {
  std::vector<Section> sections;
  const auto header = read_at<Elf64_Ehdr>(elf, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return sections;
  const auto section = [&](std::size_t i) {
    return read_at<Elf64_Shdr>(elf, header->e_shoff + i * sizeof(Elf64_Shdr));
  };
  const auto names = section(header->e_shstrndx);
  if (!names) return sections;
  const auto table = slice(elf, names->sh_offset, names->sh_size);
  for (std::size_t i = 0; i < header->e_shnum; ++i) {
    const auto one = section(i);
    if (!one || one->sh_name >= table.size()) continue;
    const auto name = table.substr(one->sh_name);
    sections.push_back({name.substr(0, name.find('\0')), *one});
  }
  return sections;
}

// Entries of .nv.info: format byte, attribute byte, 16-bit size, then for format 4 that many bytes.
constexpr unsigned char kHasSize = 4;
constexpr unsigned char kRegisterCount = 0x2f;
constexpr unsigned char kFrameSize = 0x11;

// From this architecture on 1 KiB a block is the system's, and is counted in the entry's section.
constexpr std::int64_t kFirstWithReservedShared = 90;
constexpr int kReservedSharedBytes = 1024;

int reserved_shared(std::string_view target) {
  const auto digits = target.substr(std::min(target.find_first_of("0123456789"), target.size()));
  const auto number = to_int(digits.substr(0, digits.find_first_not_of("0123456789")));
  return number.value_or(0) >= kFirstWithReservedShared ? kReservedSharedBytes : 0;
}

void read_info(std::string_view info, CubinFacts& facts) {
  while (info.size() >= 4) {
    const auto format = static_cast<unsigned char>(info[0]);
    const auto attribute = static_cast<unsigned char>(info[1]);
    const std::size_t size = format == kHasSize ? *read_at<std::uint16_t>(info, 2) : 0;
    if (info.size() < 4 + size) return;
    if (size ==
        8) {  // symbol, value; of the entry and of functions that were not inlined, which the entry's count covers
      const auto value = static_cast<int>(*read_at<std::uint32_t>(info, 8));
      if (attribute == kRegisterCount) facts.registers = std::max(facts.registers.value_or(0), value);
      if (attribute == kFrameSize) facts.stack_bytes = std::max(facts.stack_bytes.value_or(0), value);
    }
    info.remove_prefix(4 + size);
  }
}

}  // namespace

std::string gnu_build_id(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string head(1 << 16, '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(file.gcount()));
  const auto header = read_at<Elf64_Ehdr>(head, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return {};
  for (std::size_t i = 0; i < header->e_phnum; ++i) {
    const auto segment = read_at<Elf64_Phdr>(head, header->e_phoff + i * sizeof(Elf64_Phdr));
    if (!segment || segment->p_type != PT_NOTE || segment->p_filesz > (1U << 20)) continue;
    std::string notes(segment->p_filesz, '\0');
    file.clear();
    file.seekg(static_cast<std::streamoff>(segment->p_offset));
    file.read(notes.data(), static_cast<std::streamsize>(notes.size()));
    if (auto id = build_id_note(notes); !id.empty()) return id;
  }
  return {};
}

std::string library_identity(const std::string& path) {
  if (auto id = gnu_build_id(path); !id.empty()) return id;
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return {};
  std::string bytes(static_cast<std::size_t>(std::max(std::streamoff{file.tellg()}, std::streamoff{0})), '\0');
  file.seekg(0);
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  return bytes.empty() ? std::string{} : "digest " + digest_of(bytes);
}

CubinFacts read_cubin(std::string_view cubin, std::string_view entry, std::string_view target) {
  CubinFacts facts;
  const std::string shared = fmt::format(".nv.shared.{}", entry);
  for (const auto& section : sections_of(cubin)) {
    if (section.name == ".nv.info") read_info(slice(cubin, section.header.sh_offset, section.header.sh_size), facts);
    if (section.name == shared) facts.static_shared = static_cast<int>(section.header.sh_size);
  }
  if (facts.registers) facts.static_shared = std::max(facts.static_shared.value_or(0) - reserved_shared(target), 0);
  return facts;
}

}  // namespace strop::jit
