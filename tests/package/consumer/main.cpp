// Uses the library as its users do: public headers only, strop::strop and nothing else on the link line.

#include <iostream>

#include "strop/strop.h"

int main() {
  strop::Key key;
  key.add("B", 16).add("T", 8192).add("D", 2048).add("W", 4).add("dtype", strop::name(strop::DType::bf16));
  const auto read_back = strop::Key::parse(key.str());
  if (!read_back || !(*read_back == key)) {
    std::cerr << "a key did not survive its own text form: " << key.str() << "\n";
    return 1;
  }
  const strop::Config config{{"vec", 8}, {"rows", 64}};
  std::cout << key.str() << " -> " << config.str() << "\n";
  return config.str() == "{rows=64, vec=8}" ? 0 : 1;
}
