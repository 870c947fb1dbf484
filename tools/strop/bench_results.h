#pragma once

// Results of whole calls, ours and the rivals', as tables and the plot need them; read from a document of `strop bench
// --json` or from what tools/benchmarks/rivals.py wrote. Plain values.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/strop/json_values.h"

namespace strop::cli {

struct CallResult {
  double median_us = 0, spread_us = 0, host_us = 0;
  double share = 0;    // of the limit: bytes that must move / time / rate; 0 where no limit is known
  double ceiling = 0;  // the same of the copy or the add; only of our own
  double ratio = 0;    // to the copy or the add
};

struct RowResult {
  std::string name;
  // By contender; empty where there is no result.
  std::vector<std::optional<CallResult>> forward, backward;
};

struct BenchResults {
  std::string device, date;
  std::vector<std::pair<std::string, std::string>> versions;
  double limit_gbps = 0;                // 0: not known
  std::vector<std::string> contenders;  // ours first
  std::vector<std::string> notes;       // who is not there and why; rows that failed
  std::vector<RowResult> rows;
};

// Throws Error that names what is not as it should be.
BenchResults results_of(const Json& document);
// Throws Error when the file can't be read or is no such document.
BenchResults read_results(const std::string& file);

}  // namespace strop::cli
