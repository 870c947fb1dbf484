#pragma once

// What the parser of the command line refuses, in sentences that name the option and what would have been right. A pure
// function.

#include <string>

namespace CLI {
class ParseError;
}

namespace strop::cli {

std::string sentence_of(const CLI::ParseError& error);

}  // namespace strop::cli
