#include "tools/strop/text_table.h"

#include <algorithm>

#include "tools/strop/terminal.h"

namespace strop::cli {
namespace {

// Characters, not bytes: every byte that does not continue a UTF-8 sequence.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace

TextTable::TextTable(std::vector<std::string> headings) : headings_(std::move(headings)) {
  for (auto& heading : headings_) {
    numeric_.push_back(heading.starts_with('>'));
    if (numeric_.back()) heading.erase(0, 1);
  }
}

void TextTable::row(std::vector<std::string> cells, Style style) {
  cells.resize(headings_.size());
  for (auto& cell : cells) {
    cell = printable(cell);
    std::replace(cell.begin(), cell.end(), '\n', ' ');
  }
  rows_.push_back({std::move(cells), std::move(style)});
}

std::string TextTable::line(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths) const {
  std::string out;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string padding(widths[i] - width_of(cells[i]), ' ');
    if (i > 0) out += "  ";
    if (numeric_[i])
      out += padding + cells[i];
    else
      out += cells[i] + padding;
  }
  out.erase(out.find_last_not_of(' ') + 1);
  return out;
}

std::string TextTable::text() const {
  std::vector<std::size_t> widths;
  for (const auto& heading : headings_) widths.push_back(width_of(heading));
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < widths.size(); ++i) widths[i] = std::max(widths[i], width_of(row.cells[i]));
  }
  auto out = bold(line(headings_, widths)) + "\n";
  for (const auto& row : rows_) {
    const auto text = line(row.cells, widths);
    out += (row.style ? row.style(text) : text) + "\n";
  }
  return out;
}

}  // namespace strop::cli
