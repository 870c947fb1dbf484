// Finding the include lines of a text.

#include "jit/includes.h"

#include <gtest/gtest.h>

namespace strop::jit {
namespace {

std::string found(std::string_view text) {
  std::string all;
  for (const auto& include : includes_of(text)) {
    const char* form = include.form == Include::Form::quoted  ? "q:"
                       : include.form == Include::Form::angle ? "a:"
                                                              : "m:";
    all += form + include.name + ' ';
  }
  return all;
}

TEST(Includes, are_found_however_they_are_spaced) {
  EXPECT_EQ(found("#include \"a.h\"\n  #  include\t\"b/c.h\" // why\n#include \"d.h\"\r\n#include \"last.h\""),
            "q:a.h q:b/c.h q:d.h q:last.h ");
}

TEST(Includes, of_other_forms_are_told_apart) {
  EXPECT_EQ(found("#include <cuda.h>\n#include NAME\n"), "a:cuda.h m:NAME ");
}

TEST(Includes, in_comments_do_not_count) {
  EXPECT_EQ(found("// #include \"a.h\"\n/*\n#include \"b.h\"\n*/\n/* x */ #include \"c.h\"\nint i; // /*\n#include "
                  "\"d.h\" /* \"*/\n"),
            "q:c.h q:d.h ");
}

TEST(Includes, in_strings_do_not_count_and_strings_do_not_hide_what_follows) {
  EXPECT_EQ(found("auto a = R\"x(\n#include \"a.h\"\n)x\";\nauto b = \"/*\\\"\"; char c = '\"'; int d = "
                  "1'000;\n#include \"e.h\"\n"),
            "q:e.h ");
}

TEST(Includes, of_broken_texts_end) {
  for (const char* text :
       {"", "#", "#include", "#include \"", "/*", "\"", "'", "R\"", "R\"x", "R\"x(", "\"\\", "#include <"})
    EXPECT_LE(includes_of(text).size(), 1u) << text;
}

}  // namespace
}  // namespace strop::jit
