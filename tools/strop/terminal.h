#pragma once

// Standard output and standard error as the command uses them. Nothing is coloured and no bar is drawn unless the
// stream is a terminal; NO_COLOR is honoured. Used by the main thread only.

#include <string>
#include <string_view>

#include "strop/error.h"

namespace strop::cli {

// Standard output could not be written: a full disk, a closed descriptor.
class OutputError : public Error {
 public:
  using Error::Error;
};

// The whole text, or OutputError. A reader that went away (`| head -1`) is no error: the rest is dropped.
void print(std::string_view text);
// To standard error; never throws, for there is nowhere left to complain.
void note(std::string_view text) noexcept;
// To standard error as it is, for what moves the cursor. What print and note show on a terminal has no such power.
void draw(std::string_view text) noexcept;
// Stored text, as it may be shown to people: control characters and bytes that are no UTF-8 become "\x1b"; newlines and tabs stay.
std::string printable(std::string_view text);

bool output_is_terminal();
bool error_is_terminal();
bool input_is_terminal();
bool error_takes_escapes();  // neither NO_COLOR nor a terminal that is dumb
int error_width();  // columns of the terminal behind standard error; 80 when not known

// Standard output gets colours.
bool coloured();
std::string bold(std::string_view text);
std::string dim(std::string_view text);
std::string good(std::string_view text);
std::string warning(std::string_view text);
std::string bad(std::string_view text);

// "Remove 3 entries? [y/N]" on the terminal. Without one: UsageError that names --yes.
bool confirm(const std::string& question);

}  // namespace strop::cli
