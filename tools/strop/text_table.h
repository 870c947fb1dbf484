#pragma once

// A table for people: columns as wide as their widest cell, numbers to the right. Cells are ASCII or UTF-8; colours are
// put on whole rows, so that widths stay right.
// Control characters in a cell are shown, not obeyed. Plain value.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace strop::cli {

class TextTable {
 public:
  using Style = std::function<std::string(std::string_view)>;

  // A heading that begins with '>' is a column of numbers.
  explicit TextTable(std::vector<std::string> headings);
  void row(std::vector<std::string> cells, Style style = {});
  bool empty() const { return rows_.empty(); }
  std::string text() const;

 private:
  struct Row {
    std::vector<std::string> cells;
    Style style;
  };
  std::string line(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths) const;

  std::vector<std::string> headings_;
  std::vector<bool> numeric_;
  std::vector<Row> rows_;
};

}  // namespace strop::cli
