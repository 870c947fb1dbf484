// What reaches a terminal: no escape sequence that was stored, and none at all where none is wanted.

#include "tests/cli/command_fixture.h"

namespace strop::test {
namespace {

class Terminal : public Command {
 protected:
  Terminal() {
    options_.out = Output::terminal;
    options_.err = Output::terminal;
  }
};

TEST_F(Terminal, stored_escape_sequences_are_shown_and_not_obeyed) {
  // A command key, a bell, an 8-bit control and a byte that is no UTF-8, stored as a winner's reason and a driver.
  remember("causal_conv1d_fwd", 2048,
           "580\033]0;title\007\033[2J\xc2\x9b"
           "31m\xff",
           1700000000, "won\033[2J\033[31mred");
  for (const std::vector<std::string>& words : {std::vector<std::string>{"cache", "list"},
                                                {"cache", "show", "D=2048"},
                                                {"cache", "explain", "D=2048"},
                                                {"cache", "invalidate", "--all", "--dry-run"}}) {
    const auto ran = strop(words);
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    const auto all = ran.out + ran.err;
    for (const char* bad : {"\033]0", "\033[2J", "\033[31m", "\007", "\xc2\x9b", "\xff"})
      EXPECT_EQ(all.find(bad), std::string::npos) << words[1];
  }
  EXPECT_NE(strop({"cache", "show", "D=2048"}).out.find("won\\x1b[2J\\x1b[31mred"), std::string::npos);
}

TEST_F(Terminal, text_in_any_language_stays_as_it_is) {
  remember("causal_conv1d_fwd", 2048, "580.95.05", 1700000000, "schärfer, 快い, 🪒");
  EXPECT_NE(strop({"cache", "show", "D=2048"}).out.find("schärfer, 快い, 🪒"), std::string::npos);
}

TEST_F(Terminal, a_bar_has_no_escape_sequence_where_none_is_wanted) {
  const std::vector<std::string> words{"warmup", "causal_conv1d", "--device", "host", "--B",
                                       "1",      "--T",           "8",        "--D",  "8"};
  options_.environment["NO_COLOR"] = "1";
  const auto plain = strop(words, options_);
  EXPECT_EQ(plain.exit_code, 0) << plain.err;
  EXPECT_NE(plain.err.find("judged"), std::string::npos) << plain.err;
  EXPECT_EQ((plain.out + plain.err).find('\033'), std::string::npos) << plain.err;

  ASSERT_EQ(strop({"cache", "invalidate", "--kernel", "*_dw_reduce", "--yes"}).exit_code, 0);
  options_.environment["NO_COLOR"] = std::nullopt;
  options_.environment["TERM"] = "dumb";
  const auto dumb = strop(words, options_);
  EXPECT_EQ(dumb.exit_code, 0) << dumb.err;
  EXPECT_EQ(dumb.err.find("judged"), std::string::npos) << dumb.err;
  EXPECT_EQ((dumb.out + dumb.err).find('\033'), std::string::npos) << dumb.err;
}

}  // namespace
}  // namespace strop::test
