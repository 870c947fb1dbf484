#include "src/device/cuda/image.h"

#include <elf.h>
#include <fmt/format.h>

#include <cstdint>
#include <cstring>

namespace strop::device::cuda {
namespace {

// Overflow-free: `offset + bytes <= size`.
bool inside(std::uint64_t offset, std::uint64_t bytes, std::uint64_t size) {
  return offset <= size && bytes <= size - offset;
}

template <class Header>
Header read(std::string_view image, std::uint64_t offset) {
  Header header;
  std::memcpy(&header, image.data() + offset, sizeof header);
  return header;
}

std::optional<std::string> check_sections(std::string_view image, const Elf64_Ehdr& file) {
  for (unsigned i = 0; i < file.e_shnum; ++i) {
    const auto section = read<Elf64_Shdr>(image, file.e_shoff + std::uint64_t{i} * sizeof(Elf64_Shdr));
    if (section.sh_type == SHT_NOBITS || section.sh_type == SHT_NULL) continue;
    if (!inside(section.sh_offset, section.sh_size, image.size())) {
      return fmt::format("section {} of the binary lies outside its {} bytes", i, image.size());
    }
  }
  return std::nullopt;
}

std::optional<std::string> check_segments(std::string_view image, const Elf64_Ehdr& file) {
  for (unsigned i = 0; i < file.e_phnum; ++i) {
    const auto segment = read<Elf64_Phdr>(image, file.e_phoff + std::uint64_t{i} * sizeof(Elf64_Phdr));
    if (!inside(segment.p_offset, segment.p_filesz, image.size())) {
      return fmt::format("segment {} of the binary lies outside its {} bytes", i, image.size());
    }
  }
  return std::nullopt;
}

}  // namespace

bool is_elf(std::string_view image) { return image.starts_with(std::string_view(ELFMAG, SELFMAG)); }

std::optional<std::string> why_damaged(std::string_view image) {
  if (!is_elf(image)) return "the binary is not an ELF image";
  if (image.size() < sizeof(Elf64_Ehdr)) return fmt::format("the binary is cut off after {} bytes", image.size());
  const auto file = read<Elf64_Ehdr>(image, 0);
  if (file.e_ident[EI_CLASS] != ELFCLASS64 || file.e_machine != EM_CUDA)
    return "the binary is not made for a CUDA device";
  if (file.e_shnum != 0 && file.e_shentsize != sizeof(Elf64_Shdr))
    return "the binary's section headers have an unknown size";
  if (file.e_phnum != 0 && file.e_phentsize != sizeof(Elf64_Phdr))
    return "the binary's segment headers have an unknown size";
  if (!inside(file.e_shoff, std::uint64_t{file.e_shnum} * sizeof(Elf64_Shdr), image.size()) ||
      !inside(file.e_phoff, std::uint64_t{file.e_phnum} * sizeof(Elf64_Phdr), image.size())) {
    return fmt::format("the binary is cut off after {} bytes", image.size());
  }
  if (auto bad = check_sections(image, file)) return bad;
  return check_segments(image, file);
}

}  // namespace strop::device::cuda
