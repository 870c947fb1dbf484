// Where NVRTC is looked for, and in which order. Opens nothing.

#include <gtest/gtest.h>

#include "jit/nvrtc/places.h"
#include "tests/support/test_folder.h"

namespace strop::jit {
namespace {

using test::Environment;
using test::TestFolder;

int index_of(const std::vector<Place>& places, const std::string& library) {
  for (int i = 0; i < static_cast<int>(places.size()); ++i)
    if (places[i].library == library && !places[i].already_loaded_only) return i;
  return -1;
}

TEST(NvrtcPlaces, what_is_named_stands_alone) {
  const TestFolder folder;
  const auto file = folder.write("lib64/libnvrtc.so.13", "");
  for (const auto& named : {file, (folder.path() / "lib64").string(), folder.path().string()}) {
    const auto places = nvrtc_places(named, "the word");
    ASSERT_EQ(places.size(), 1u) << named;
    EXPECT_EQ(places[0].library, file);
    EXPECT_EQ(places[0].rule, "the word");
  }
}

TEST(NvrtcPlaces, a_named_folder_without_nvrtc_is_named_in_the_error) {
  const TestFolder folder;
  EXPECT_EQ(nvrtc_places(folder.path().string(), "").at(0).library, (folder.path() / "libnvrtc.so.13").string());
}

TEST(NvrtcPlaces, are_the_process_then_wheels_then_conda_then_the_loader_then_toolkits) {
  const TestFolder folder;
  const auto wheel13 = folder.write("venv/lib/python3.12/site-packages/nvidia/cu13/lib/libnvrtc.so.13", "");
  const auto wheel12 = folder.write("venv/lib/python3.9/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12", "");
  const auto conda = folder.write("conda/lib/libnvrtc.so.12", "");
  const auto toolkit = folder.write("toolkit/lib64/libnvrtc.so.13", "");
  const Environment virtual_env("VIRTUAL_ENV", (folder.path() / "venv").string());
  const Environment conda_prefix("CONDA_PREFIX", (folder.path() / "conda").string());
  const Environment cuda_path("CUDA_PATH", (folder.path() / "toolkit").string());

  const auto places = nvrtc_places("", "");
  ASSERT_GE(places.size(), 2u);
  EXPECT_TRUE(places[0].already_loaded_only && places[1].already_loaded_only);
  EXPECT_EQ(places[0].library, "libnvrtc.so.13");
  EXPECT_EQ(places[1].library, "libnvrtc.so.12");
  std::vector<int> order;
  for (const auto& library :
       {wheel13, wheel12, conda, std::string("libnvrtc.so.13"), std::string("libnvrtc.so.12"), toolkit})
    order.push_back(index_of(places, library));
  EXPECT_GE(order.front(), 2);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end())) << testing::PrintToString(order);
  EXPECT_EQ(places[order.back()].rule, "CUDA_PATH");
}

TEST(NvrtcPlaces, the_newest_python_comes_first) {
  const TestFolder folder;
  const auto old = folder.write("lib/python3.9/site-packages/nvidia/cu13/lib/libnvrtc.so.13", "");
  const auto recent = folder.write("lib/python3.12/site-packages/nvidia/cu13/lib/libnvrtc.so.13", "");
  const Environment virtual_env("VIRTUAL_ENV", folder.path().string());
  const auto places = nvrtc_places("", "");
  EXPECT_LT(index_of(places, recent), index_of(places, old));
}

}  // namespace
}  // namespace strop::jit
