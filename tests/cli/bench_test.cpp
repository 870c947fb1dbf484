// strop bench: what is measured, what is refused, and the results as tables and as a plot.

#include <cmath>
#include <fstream>
#include <iterator>
#include <set>

#include "tests/cli/command_fixture.h"

namespace strop::test {
namespace {

class Bench : public Command {
 protected:
  std::string file(const std::string& name) const { return (home_ / name).string(); }
  static std::string text_of(const std::string& path) {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }
  static std::string recorded() { return std::string(STROP_SOURCE_ROOT) + "/tests/golden/bench_rivals.json"; }
  Ran draw(const std::string& from, std::vector<std::string> more) const {
    std::vector<std::string> words{"bench", "causal_conv1d", "--from", from};
    words.insert(words.end(), more.begin(), more.end());
    return strop(words);
  }
};

std::size_t count(const std::string& text, const std::string& word) {
  std::size_t found = 0;
  for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
  return found;
}

TEST_F(Bench, measures_whole_calls_and_kernels_on_the_host_device_and_says_what_that_means) {
  const std::vector<std::string> words{"bench", "causal_conv1d", "--device", "host", "--B", "1",
                                       "--T",   "24",            "--D",      "16",   "--json"};
  const auto ran = strop(words);
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_NE(ran.err.find("correctness"), std::string::npos) << ran.err;
  const auto document = nlohmann::json::parse(ran.out);
  EXPECT_EQ(document["schema"], 1);
  EXPECT_NE(document["meaning"].get<std::string>().find("say nothing of a GPU"), std::string::npos);
  EXPECT_EQ(document["versions"]["strop"], STROP_VERSION);
  EXPECT_TRUE(document["limit_gbps"].is_null());
  EXPECT_EQ(document["kernels"].size(), 3u);
  ASSERT_EQ(document["rows"].size(), 1u);
  const auto& row = document["rows"][0];
  EXPECT_EQ(row["name"], "1x24x16");
  EXPECT_EQ(row["layout"], "dense");
  EXPECT_EQ(row["forward"]["bytes"], 2 * 24 * 16 * 2 + 16 * 4 * 4);
  EXPECT_EQ(row["backward"]["bytes"], 3 * 24 * 16 * 2 + 2 * 16 * 4 * 4);
  for (const auto& [direction, ceiling] : {std::pair("forward", "copy_us"), {"backward", "add_us"}}) {
    const auto& time = row[direction];
    EXPECT_EQ(time["samples"], 3) << time;
    EXPECT_GT(time["host_us"], 0);
    EXPECT_TRUE(time["share_of_limit"].is_null());
    const double ratio = time["median_us"].get<double>() / time[ceiling].get<double>();
    EXPECT_LT(std::abs(time["ratio"].get<double>() / ratio - 1), 1e-6) << time;
  }
  EXPECT_EQ(row["forward"]["config"]["causal_conv1d_fwd"], document["kernels"][0]["winner"]);
  EXPECT_EQ(row["backward"]["config"]["causal_conv1d_bwd"], document["kernels"][1]["winner"]);
  EXPECT_EQ(row["backward"]["config"]["causal_conv1d_dw_reduce"], document["kernels"][2]["winner"]);

  // The measured document can be shown again.
  std::ofstream(file("measured.json")) << ran.out;
  const auto shown = draw(file("measured.json"), {});
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_NE(shown.out.find("1x24x16"), std::string::npos) << shown.out;
  const auto plotted = draw(file("measured.json"), {"--plot", file("host.svg")});
  EXPECT_EQ(plotted.exit_code, 1);
  EXPECT_NE(plotted.err.find("limit"), std::string::npos) << plotted.err;
}

TEST_F(Bench, the_suite_has_the_shapes_and_layouts_of_the_table) {
  const auto document = json({"bench", "causal_conv1d", "--suite", "table", "--list"});
  std::set<std::string> names, dtypes, weights, layouts;
  for (const auto& row : document["rows"]) {
    EXPECT_TRUE(names.insert(row["name"]).second) << row["name"];
    dtypes.insert(row["dtype"]);
    weights.insert(row["wdtype"]);
    layouts.insert(row["layout"]);
    EXPECT_EQ(row["shape"]["W"], 4);
    if (row["layout"] != "packed") continue;
    const auto& bounds = row["cu_seqlens"];
    ASSERT_EQ(bounds.size(), row["sequences"].get<std::size_t>() + 1);
    EXPECT_EQ(bounds.front(), 0);
    EXPECT_EQ(bounds.back(), row["shape"]["T"]);
    EXPECT_EQ(row["shape"]["T"], 16 * 8192);
  }
  EXPECT_EQ(dtypes, (std::set<std::string>{"bf16", "fp16"}));
  EXPECT_EQ(weights, (std::set<std::string>{"fp32", "bf16"}));
  EXPECT_EQ(layouts, (std::set<std::string>{"dense", "slice", "packed"}));
  for (const char* name : {"16x8192x2048", "1x8192x2048", "4x4096x2048", "16x8192x1024", "16x8192x4096", "16x8191x2048 ragged",
                           "16x8192x2048 QKV slice", "16x8192x2047 odd D", "1x2048x1024", "8x512x2048"})
    EXPECT_TRUE(names.contains(name)) << name;
}

TEST_F(Bench, what_can_not_be_meant_together_is_refused) {
  struct Case {
    std::vector<std::string> words;
    int exit_code;
    std::string says;
  };
  const std::vector<Case> cases{
      {{}, 2, "--B is needed, or --suite table"},
      {{"--B", "1", "--T", "8"}, 2, "--D is needed"},
      {{"--suite", "tabel"}, 2, "choose from table"},
      {{"--suite", "table", "--D", "8"}, 2, "its own shapes"},
      {{"--suite", "table", "--device", "host"}, 1, "needs a GPU"},
      {{"--suite", "table", "--list", "--plot", file("x.svg")}, 2, "measures nothing"},
      {{"--from", recorded(), "--suite", "table"}, 2, "no meaning"},
      {{"--from", file("none.json")}, 1, "can't be read"},
      {{"--from", recorded(), "--plot", file("no/folder/x.svg")}, 1, "can't be written"},
      {{"--B", "1", "--T", "8", "--D", "8", "--device", "host", "--plot", file("x.svg")}, 1, "not known"}};
  for (const auto& one : cases) {
    std::vector<std::string> words{"bench", "causal_conv1d"};
    words.insert(words.end(), one.words.begin(), one.words.end());
    const auto ran = strop(words);
    EXPECT_EQ(ran.exit_code, one.exit_code) << one.says << ": " << ran.err;
    EXPECT_NE(ran.err.find(one.says), std::string::npos) << ran.err;
    EXPECT_EQ(ran.out, "");
  }
}

TEST_F(Bench, a_document_that_is_none_is_refused_by_name) {
  std::ofstream(file("broken.json")) << "{\"rows\": [";
  std::ofstream(file("other.json")) << R"({"schema": 1, "device": "x", "date": "y", "rows": [{"name": "a"}]})";
  EXPECT_NE(draw(file("broken.json"), {}).err.find("broken.json is no JSON document"), std::string::npos);
  const auto other = draw(file("other.json"), {});
  EXPECT_EQ(other.exit_code, 1);
  EXPECT_NE(other.err.find("forward"), std::string::npos) << other.err;
}

TEST_F(Bench, rivals_stand_beside_ours_in_the_markdown_table) {
  const auto ran = draw(recorded(), {"--markdown"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_NE(ran.out.find("| 16x8192x2048 | 250.0 us | 1.000 x | 99.9 % | 400.0 us | 1.081 x | 93.7 % | "
                         "650.0 us | 500.0 us | 2.000 ms | 2.500 ms | 600.0 us | 1.500 ms | 2.100 ms |"),
            std::string::npos)
      << ran.out;
  // Refused by one, not measured backward by the other.
  EXPECT_NE(ran.out.find("| 75.0 us | - | - | - | 60.0 us | - | - |"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("causal-conv1d was not measured: no module"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("fla, 1x8192x2047 <odd> & D: refused it"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("fla 0.4.0"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("torch 2.9.0"), std::string::npos) << ran.out;
}

TEST_F(Bench, the_plot_has_a_bar_for_every_result_on_a_ground_of_its_own) {
  const auto ran = draw(recorded(), {"--plot", file("plot.svg")});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  const auto svg = text_of(file("plot.svg"));
  EXPECT_TRUE(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
  EXPECT_NE(svg.find("fill=\"#fff\"/>"), std::string::npos);
  EXPECT_NE(svg.find("1x8192x2047 &lt;odd&gt; &amp; D"), std::string::npos);
  // Ours twice a row, fla twice, torch.compile thrice in all; the legend's three; the ground.
  EXPECT_EQ(count(svg, "<rect "), 4u + 2u + 3u + 3u + 1u);
  // Copy and add of each row, and the legend's.
  EXPECT_EQ(count(svg, "class=\"mark\""), 5u);
  // 99.9 % of the limit of 360 / 1.15 pixels, and half of it for the rival that takes twice as long.
  EXPECT_NE(svg.find("width=\"312.7\""), std::string::npos) << svg;
  EXPECT_NE(svg.find("width=\"156.4\""), std::string::npos) << svg;
  EXPECT_NE(svg.find("4300 GB/s"), std::string::npos) << svg;
}

}  // namespace
}  // namespace strop::test
