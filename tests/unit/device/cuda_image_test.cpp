// Damaged cubins must be refused before the driver reads past their end.

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "src/device/cuda/image.h"

namespace strop::device::cuda {
namespace {

// A header, one segment, 64 bytes of code, and two sections, in this order.
struct Image {
  Elf64_Ehdr file{};
  Elf64_Phdr segment{};
  unsigned char code[64]{};
  Elf64_Shdr sections[2]{};

  Image() {
    std::memcpy(file.e_ident, ELFMAG, SELFMAG);
    file.e_ident[EI_CLASS] = ELFCLASS64;
    file.e_machine = EM_CUDA;
    file.e_phoff = offsetof(Image, segment);
    file.e_phnum = 1;
    file.e_phentsize = sizeof(Elf64_Phdr);
    file.e_shoff = offsetof(Image, sections);
    file.e_shnum = 2;
    file.e_shentsize = sizeof(Elf64_Shdr);
    segment.p_offset = sections[1].sh_offset = offsetof(Image, code);
    segment.p_filesz = sections[1].sh_size = sizeof code;
    sections[1].sh_type = SHT_PROGBITS;
  }

  std::string bytes() const { return {reinterpret_cast<const char*>(this), sizeof *this}; }
};

TEST(CubinImage, that_is_whole_passes) { EXPECT_EQ(why_damaged(Image().bytes()), std::nullopt); }

TEST(CubinImage, cut_anywhere_is_refused) {
  const std::string whole = Image().bytes();
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
    EXPECT_TRUE(why_damaged(whole.substr(0, bytes))) << "cut after " << bytes << " of " << whole.size() << " bytes";
  }
}

TEST(CubinImage, whose_section_points_outside_is_refused) {
  Image image;
  image.sections[1].sh_offset = ~std::uint64_t{0} - 8;  // the sum with its size wraps around
  EXPECT_TRUE(why_damaged(image.bytes()));
}

TEST(CubinImage, whose_segment_is_too_long_is_refused) {
  Image image;
  image.segment.p_filesz = sizeof image;
  EXPECT_TRUE(why_damaged(image.bytes()));
}

TEST(CubinImage, whose_zeroed_section_has_no_bytes_passes) {
  Image image;
  image.sections[1].sh_type = SHT_NOBITS;  // shared memory: a size, and nothing in the file
  image.sections[1].sh_size = 1u << 20;
  EXPECT_EQ(why_damaged(image.bytes()), std::nullopt);
}

TEST(CubinImage, for_another_machine_is_refused) {
  Image image;
  image.file.e_machine = EM_X86_64;
  EXPECT_EQ(why_damaged(image.bytes()), "the binary is not made for a CUDA device");
}

TEST(CubinImage, that_is_no_elf_is_refused) {
  EXPECT_FALSE(is_elf("garbage"));
  EXPECT_TRUE(why_damaged("garbage"));
}

}  // namespace
}  // namespace strop::device::cuda
