#include "tools/strop/bench_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "strop/error.h"

namespace strop::cli {
namespace {

constexpr double kWidth = 960, kLabels = 176, kPanel = 360, kGap = 24;
constexpr double kTop = 86, kBar = 9, kBetweenRows = 9;
constexpr double kMostShare = 1.15;  // where a panel ends: noise may put a call past the limit
// Told apart in greys too, and by eyes that don't see red or green.
constexpr std::array<std::string_view, 6> kColours{"#1f5fa8", "#e08a1e", "#5aa469", "#9b72b0", "#8c8c8c", "#b04a4a"};

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (static_cast<unsigned char>(c) >= 0x20)
      out += c;
  }
  return out;
}

std::string_view colour_of(std::size_t contender) { return kColours[contender % kColours.size()]; }

double panel_x(int panel) { return kLabels + panel * (kPanel + kGap); }
double length_of(double share) { return kPanel * std::clamp(share, 0.0, kMostShare) / kMostShare; }
double row_height(const BenchResults& results) {
  return kBar * static_cast<double>(results.contenders.size()) + kBetweenRows;
}

std::string text_at(double x, double y, std::string_view text, std::string_view more = "") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\"{}>{}</text>\n", x, y, more, escaped(text));
}

std::string head_of(const BenchResults& results) {
  auto svg = text_at(16, 26, "causal_conv1d: achieved bandwidth as a share of the memory's limit", " font-size=\"16\"");
  double x = 16;
  for (std::size_t i = 0; i < results.contenders.size(); ++i) {
    svg += fmt::format("<rect x=\"{:.1f}\" y=\"40\" width=\"12\" height=\"10\" fill=\"{}\"/>\n", x, colour_of(i));
    svg += text_at(x + 17, 49, results.contenders[i]);
    x += 36 + 7.5 * static_cast<double>(results.contenders[i].size());
  }
  svg += fmt::format("<path class=\"mark\" d=\"M{:.1f} 39 v12\"/>\n", x + 4);
  return svg + text_at(x + 12, 49, "a copy (forward), an add (backward) of the same bytes, same run");
}

std::string axes_of(const BenchResults& results, double bottom) {
  std::string svg;
  for (int panel = 0; panel < 2; ++panel) {
    const double x = panel_x(panel);
    svg += text_at(x, kTop - 20, panel == 0 ? "forward" : "backward with the weight gradient", " font-weight=\"bold\"");
    for (int share = 0; share <= 100; share += 25) {
      const double at = x + length_of(share / 100.0);
      svg += fmt::format("<path class=\"{}\" d=\"M{:.1f} {:.1f} V{:.1f}\"/>\n", share == 100 ? "limit" : "grid", at,
                         kTop - 6, bottom);
      svg += text_at(at, kTop - 9, fmt::format("{} %", share), " class=\"small middle\"");
    }
  }
  const auto limit = fmt::format("100 %: {:.0f} GB/s, what a copy attains of the nominal rate. {}, {}",
                                 results.limit_gbps, results.device, results.date);
  return svg + text_at(16, bottom + 20, limit, " class=\"small\"");
}

std::string bars_of(const std::vector<std::optional<CallResult>>& calls, int panel, double top) {
  std::string svg;
  const double x = panel_x(panel);
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (!calls[i]) continue;
    const double y = top + kBar * static_cast<double>(i), length = length_of(calls[i]->share);
    svg += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"/>\n", x, y,
                       length, kBar - 1, colour_of(i));
    // Ours beside its mark, which lies at about the same place.
    const double past = i == 0 ? std::max(length, length_of(calls[i]->ceiling)) : length;
    svg += text_at(x + past + 4, y + kBar - 1.5, fmt::format("{:.0f}", 100 * calls[i]->share), " class=\"small\"");
  }
  if (!calls.front() || calls.front()->ceiling <= 0) return svg;
  return svg + fmt::format("<path class=\"mark\" d=\"M{:.1f} {:.1f} v{:.1f}\"/>\n",
                           x + length_of(calls.front()->ceiling), top - 2,
                           kBar * static_cast<double>(calls.size()) + 3);
}

}  // namespace

std::string plot_of(const BenchResults& results) {
  if (results.limit_gbps <= 0)
    throw Error(fmt::format("a plot shows shares of the memory's limit, and that of {} is not known", results.device));
  if (results.rows.empty()) throw Error("there are no rows to plot");
  const double bottom = kTop + row_height(results) * static_cast<double>(results.rows.size());
  auto svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
      "font-family=\"Helvetica,Arial,sans-serif\" font-size=\"12\" fill=\"#223\">\n"
      "<title>Achieved bandwidth of causal_conv1d as a share of the memory's limit</title>\n"
      "<style>.small{{font-size:9px;fill:#455}}.middle{{text-anchor:middle}}.end{{text-anchor:end}}.grid{{stroke:#ccd;"
      "stroke-width:1}}"
      ".limit{{stroke:#b03030;stroke-width:1.5;stroke-dasharray:4 3}}.mark{{stroke:#111;stroke-width:1.6}}</style>\n"
      "<rect width=\"{0:.0f}\" height=\"{1:.0f}\" rx=\"6\" fill=\"#fff\"/>\n",
      kWidth, bottom + 34);
  svg += head_of(results) + axes_of(results, bottom);
  double y = kTop;
  for (const auto& row : results.rows) {
    const double middle = y + (row_height(results) - kBetweenRows) / 2 + 4;
    svg += text_at(kLabels - 8, middle, row.name, " class=\"end\"");
    svg += bars_of(row.forward, 0, y) + bars_of(row.backward, 1, y);
    y += row_height(results);
  }
  return svg + "</svg>\n";
}

}  // namespace strop::cli
