#include <algorithm>

#include "src/ops/causal_conv1d/op.h"
#include "src/ops/op.h"

namespace strop::ops {

const std::vector<const Op*>& all() {
  static const std::vector<const Op*> ops{&causal_conv1d_op()};
  return ops;
}

const Op* find(const std::string& name) {
  const auto at = std::find_if(all().begin(), all().end(), [&](const Op* op) { return op->name() == name; });
  return at == all().end() ? nullptr : *at;
}

}  // namespace strop::ops
