// causal_conv1d as a user calls it: results, refusals, and what new lengths cost. The same source for the host device and, in its own
// program, for a GPU (STROP_TEST_DEVICE).

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <type_traits>

#include "src/device/device.h"
#include "src/ops/causal_conv1d/op.h"
#include "strop/error.h"
#include "tests/support/conv_call.h"
#include "tests/support/conv_cases.h"

namespace strop {
namespace {

using test::ConvCall;

constexpr bool kGpu = std::string_view(STROP_TEST_DEVICE) == "cuda";

class ConvCalls : public testing::Test {
 protected:
  void SetUp() override {
    if (!kGpu) return;
    if (const auto probe = device::probe_cuda(); probe.status != device::CudaStatus::ok) GTEST_SKIP() << "no GPU: " << probe.reason;
  }
  static std::shared_ptr<Library> library() {
    static const auto library = [] {
      Options options;
      options.device = STROP_TEST_DEVICE;
      options.cache_path = ":memory:";
      options.on_miss = MissPolicy::nearest;  // no tuning: what runs is the default config, checked by other tests beside all others
      return Library::open(options);
    }();
    return library;
  }
  static CausalConv1d& conv() {
    static CausalConv1d conv(library());
    return conv;
  }
  static CausalConv1dProblem problem(std::int64_t B, std::int64_t T, std::int64_t D, std::int64_t W = 4) {
    return ops::conv_problem({B, T, D, W});
  }
  static std::string refused(const std::function<void()>& call) {
    try {
      call();
    } catch (const Unsupported& error) {
      return error.what();
    }
    return "it was not refused";
  }
};

class ConvCallCases : public ConvCalls, public testing::WithParamInterface<test::ConvCase> {};

TEST_P(ConvCallCases, BothDirectionsAreRightThroughThePublicInterface) {
  ConvCall call(library(), GetParam().problem);
  EXPECT_EQ(call.wrong(conv()), "");
  EXPECT_EQ(call.wrong(conv()), "") << "the second time, from the tables";
}

INSTANTIATE_TEST_SUITE_P(Calls, ConvCallCases, testing::ValuesIn(test::conv_cases()), [](const auto& tested) { return tested.param.name; });

TEST_F(ConvCalls, WithoutTokensStatesAreHandedOnAndSumsAreZero) {
  for (const bool packed : {false, true}) {
    auto p = problem(packed ? 1 : 2, 0, 24);
    p.packed_sequences = packed ? 3 : 0;
    p.initial_state = p.final_state = p.bias = true;
    ConvCall call(library(), p, packed ? std::vector<std::int64_t>{0, 0, 0, 0} : std::vector<std::int64_t>{});
    EXPECT_EQ(call.wrong(conv()), "");
    auto t = call.backward_tensors();
    t.weight = t.bias = nullptr;
    conv().backward(p, t, nullptr);
  }
  ConvCall none(library(), problem(0, 16, 8));
  EXPECT_EQ(none.wrong(conv()), "");
}

TEST_F(ConvCalls, PackedSequencesAreTheSameBitsAsEachAlone) {
  auto p = problem(1, 150, 16);
  p.packed_sequences = 3;
  ConvCall packed(library(), p, {0, 70, 71, 150});
  packed.run(conv());
  const auto together = packed.values("y");
  ConvCall alone(library(), problem(1, 70, 16));  // the same seeds: the same first 70 rows
  alone.run(conv());
  const auto first = alone.values("y");
  EXPECT_TRUE(std::equal(first.begin(), first.end(), together.begin()));
}

TEST_F(ConvCalls, ANotANumberReachesItsWindowAndItsChannelOnly) {
  const std::int64_t T = 40, D = 16, W = 4, t = 35, d = 5;
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    ConvCall call(library(), problem(1, T, D));
    call.set("x", t * D + d, bad);
    call.run(conv());
    const auto y = call.values("y"), dx = call.values("dx"), dw = call.values("dw");
    for (std::int64_t i = 0; i < T * D; ++i) {
      const auto row = i / D, channel = i % D;
      const bool touched = channel == d && row >= t && row < t + W;
      EXPECT_TRUE(touched || std::isfinite(y[static_cast<std::size_t>(i)])) << row << " " << channel;
      // dx of a row needs g of the W-1 rows after it.
      const bool near = channel == d && row > t - W && row < t + W;
      EXPECT_TRUE(near || std::isfinite(dx[static_cast<std::size_t>(i)])) << row << " " << channel;
    }
    for (std::int64_t i = 0; i < D * W; ++i) EXPECT_TRUE(i / W == d || std::isfinite(dw[static_cast<std::size_t>(i)])) << i;
    EXPECT_FALSE(std::isfinite(y[static_cast<std::size_t>(t * D + d)]));
  }
  ConvCall last(library(), problem(1, T, D));  // in the last row: what lies past the end is selected away, not multiplied
  last.set("x", (T - 1) * D + d, std::numeric_limits<double>::quiet_NaN());
  last.run(conv());
  const auto dx = last.values("dx");
  EXPECT_TRUE(std::isfinite(dx[static_cast<std::size_t>((T - 1 - W) * D + d)]));
}

TEST_F(ConvCalls, HalfPrecisionSumsPastItsRangeHaveFiniteGradients) {
  auto p = problem(1, 20, 8);
  p.x_type = DType::fp16;
  ConvCall call(library(), p);
  for (std::int64_t i = 0; i < 20 * 8; ++i) call.set("x", i, 60000);
  for (std::int64_t i = 0; i < 8 * 4; ++i) call.set("weight", i, 1);
  call.run(conv());
  for (const double v : call.values("dx")) EXPECT_TRUE(std::isfinite(v));
}

TEST_F(ConvCalls, WhatCanNotBeMeantIsRefusedByName) {
  const auto why = [](CausalConv1dProblem p) { return CausalConv1d::why_unsupported(p).value_or("supported"); };
  const auto with = [&](auto change) {
    auto p = problem(1, 16, 8);
    change(p);
    return why(p);
  };
  EXPECT_EQ(why(problem(1, 16, 8)), "supported");
  EXPECT_NE(with([](auto& p) { p.W = 0; }).find("W=0"), std::string::npos);
  EXPECT_NE(with([](auto& p) { p.W = 9; }).find("W=9"), std::string::npos);
  EXPECT_NE(with([](auto& p) { p.x_type = DType::int32; }).find("int32"), std::string::npos);
  EXPECT_NE(with([](auto& p) { p.weight_type = DType::int64; }).find("weight of type int64"), std::string::npos);
  EXPECT_NE(with([](auto& p) { p.activation = static_cast<Activation>(7); }).find("activation 7"), std::string::npos);
  EXPECT_NE(with([](auto& p) { p.B = 2, p.packed_sequences = 3; }).find("B=2"), std::string::npos);
  EXPECT_NE(with([](auto& p) { p.packed_sequences = -1; }).find("packed_sequences=-1"), std::string::npos);
  EXPECT_NE(with([](auto& p) { p.packed_sequences = 2, p.cu_seqlens_type = DType::fp32; }).find("cu_seqlens of type fp32"), std::string::npos);
  EXPECT_NE(with([](auto& p) { p.T = std::int64_t{3} << 31, p.packed_sequences = 2; }).find("use int64"), std::string::npos);
  EXPECT_NE(with([](auto& p) { p.y_strides = {0, 0, 1}; }).find("output y"), std::string::npos);
  EXPECT_NE(with([](auto& p) { p.final_state = true, p.final_state_strides = {0, 0, 1}; }).find("final_state"), std::string::npos);
  EXPECT_NE(with([](auto& p) { p.residual_strides = {1, -8, 1}; }).find("residual"), std::string::npos);
  constexpr std::int64_t kFar = std::int64_t{1} << 45;  // each alone is in bounds
  EXPECT_NE(with([](auto& p) { p.weight_strides = {kFar, 1}; }).find("weight reaches past"), std::string::npos);
  EXPECT_NE(with([](auto& p) { p.B = 8, p.initial_state = true, p.initial_state_strides = {kFar, 8, 1}; }).find("initial_state reaches past"),
            std::string::npos);
  EXPECT_NE(with([](auto& p) { p.final_state = true, p.final_state_strides = {1, kFar, kFar}; }).find("final_state reaches past"), std::string::npos);
  EXPECT_NE(with([](auto& p) { p.B = 0, p.T = kFar, p.D = 1 << 30; }).find("more elements"), std::string::npos);
  EXPECT_NE(with([](auto& p) { p.alignment = 3; }).find("alignment=3"), std::string::npos);
}

TEST_F(ConvCalls, BoundsThatCanNotBeMeantAreRefusedBeforeAnythingIsLaunched) {
  const std::pair<std::vector<std::int64_t>, const char*> cases[] = {
      {{1, 8, 16}, "cu_seqlens[0] is 1"},          {{0, 9, 8}, "decreases from 9 to 8 at [2]"}, {{0, 17, 17}, "cu_seqlens[1] is 17, x has 16 tokens"},
      {{0, 8, 15}, "ends at 15, x has 16 tokens"}, {{0, -1, 16}, "decreases from 0 to -1"}};
  for (const auto type : {DType::int32, DType::int64}) {
    for (const auto& [bounds, expected] : cases) {
      auto p = problem(1, 16, 8);
      p.packed_sequences = 2;
      p.cu_seqlens_type = type;
      ConvCall call(library(), p, bounds);
      EXPECT_NE(refused([&] { call.run(conv()); }).find(expected), std::string::npos) << expected;
      for (const double y : call.values("y")) ASSERT_TRUE(std::isnan(y)) << "something was launched";
      // From the host copy alike.
      auto t = call.forward_tensors();
      const std::vector<std::int32_t> narrow(bounds.begin(), bounds.end());
      t.cu_seqlens_host = type == DType::int64 ? static_cast<const void*>(bounds.data()) : narrow.data();
      EXPECT_NE(refused([&] { conv().forward(p, t, nullptr); }).find(expected), std::string::npos) << expected;
    }
  }
  ConvCall fine(library(), problem(1, 16, 8));
  EXPECT_EQ(fine.wrong(conv()), "") << "the process and the device stay usable";
}

TEST_F(ConvCalls, TensorsThatTheProblemHasNotOrLacksAreRefusedByName) {
  auto p = problem(1, 16, 8);
  ConvCall call(library(), p);
  const auto forward = [&](auto change) {
    auto t = call.forward_tensors();
    change(t);
    return refused([&] { conv().forward(p, t, nullptr); });
  };
  int something = 0;
  EXPECT_NE(forward([](auto& t) { t.x = nullptr; }).find("x is null"), std::string::npos);
  EXPECT_NE(forward([](auto& t) { t.weight = nullptr; }).find("weight is null"), std::string::npos);
  EXPECT_NE(forward([](auto& t) { t.y = const_cast<void*>(t.x); }).find("in place"), std::string::npos);
  EXPECT_NE(forward([&](auto& t) { t.bias = &something; }).find("bias is given"), std::string::npos);
  EXPECT_NE(forward([&](auto& t) { t.residual = &something; }).find("residual is given"), std::string::npos);
  EXPECT_NE(forward([&](auto& t) { t.initial_state = &something; }).find("initial_state is given"), std::string::npos);
  EXPECT_NE(forward([&](auto& t) { t.final_state = &something; }).find("final_state is given"), std::string::npos);
  EXPECT_NE(forward([&](auto& t) { t.cu_seqlens = &something; }).find("cu_seqlens is given"), std::string::npos);
  const auto backward = [&](auto change) {
    auto t = call.backward_tensors();
    change(t);
    return refused([&] { conv().backward(p, t, nullptr); });
  };
  EXPECT_NE(backward([](auto& t) { t.dx = const_cast<void*>(t.dy); }).find("in place"), std::string::npos);
  EXPECT_NE(backward([](auto& t) { t.dw = nullptr; }).find("dw is null"), std::string::npos);
  EXPECT_NE(backward([](auto& t) { t.workspace_bytes = 1; }).find("workspace of"), std::string::npos);
  EXPECT_NE(backward([&](auto& t) { t.d_initial_state = &something; }).find("d_initial_state is given"), std::string::npos);
}

TEST_F(ConvCalls, PointersBetweenTwoElementsAreRefusedByName) {
  auto p = problem(1, 16, 8);
  p.packed_sequences = 2;
  p.bias = p.initial_state = p.final_state = true;
  ConvCall call(library(), p, {0, 8, 16});
  const auto odd = [](auto& pointer) { pointer = reinterpret_cast<std::remove_reference_t<decltype(pointer)>>(reinterpret_cast<std::uintptr_t>(pointer) + 1); };
  const std::pair<const char*, std::function<void(CausalConv1dForward&)>> forward[] = {
      {"initial_state is not aligned", [&](auto& t) { odd(t.initial_state); }},
      {"final_state is not aligned", [&](auto& t) { odd(t.final_state); }},
      {"cu_seqlens is not aligned to its elements of 4", [&](auto& t) { odd(t.cu_seqlens); }}};
  for (const auto& [expected, change] : forward) {
    auto t = call.forward_tensors();
    change(t);
    EXPECT_NE(refused([&] { conv().forward(p, t, nullptr); }).find(expected), std::string::npos) << expected;
  }
  const std::pair<const char*, std::function<void(CausalConv1dBackward&)>> backward[] = {
      {"dw is not aligned to its elements of 4", [&](auto& t) { odd(t.dw); }},
      {"db is not aligned", [&](auto& t) { odd(t.db); }},
      {"d_initial_state is not aligned", [&](auto& t) { odd(t.d_initial_state); }},
      {"d_final_state is not aligned", [&](auto& t) { odd(t.d_final_state); }}};
  for (const auto& [expected, change] : backward) {
    auto t = call.backward_tensors();
    change(t);
    EXPECT_NE(refused([&] { conv().backward(p, t, nullptr); }).find(expected), std::string::npos) << expected;
  }
  auto plain = problem(1, 16, 8);
  ConvCall sliced(library(), plain);
  auto t = sliced.forward_tensors();
  t.weight = static_cast<const std::byte*>(t.weight) + 2;  // of floats
  EXPECT_NE(refused([&] { conv().forward(plain, t, nullptr); }).find("weight is not aligned to its elements of 4"), std::string::npos);
  EXPECT_EQ(sliced.wrong(conv()), "");
}

TEST_F(ConvCalls, ASliceAtAnOddElementRunsBesideWiderWeights) {
  auto p = problem(2, 33, 16);
  p.alignment = 2;  // of x, y, dy and dx; the weights are floats at floats' places
  p.bias = true;
  ConvCall call(library(), p);
  EXPECT_EQ(call.wrong(conv()), "");
}

TEST_F(ConvCalls, NewLengthsCostNoCompileAndNoTuning) {
  Options options;
  options.device = STROP_TEST_DEVICE;
  options.cache_path = ":memory:";
  // On a GPU one length is tuned and the others run its config; a tuning takes too long on the host device, whose default stands in.
  if (!kGpu) options.on_miss = MissPolicy::nearest;
  const auto library = Library::open(options);
  CausalConv1d conv(library);
  const std::int64_t D = kGpu ? 256 : 8, least = kGpu ? 4096 : 64, most = kGpu ? 65536 : 700;
  std::mt19937 random(7);
  const auto between = [&](std::int64_t low, std::int64_t high) { return std::uniform_int_distribution<std::int64_t>(low, high)(random); };
  const auto call_once = [&] {
    auto p = problem(1, between(least, most), D);
    p.packed_sequences = between(5, 60);
    std::vector<std::int64_t> bounds{0};
    for (std::int64_t n = 1; n < p.packed_sequences; ++n) bounds.push_back(between(0, p.T));
    bounds.push_back(p.T);
    std::sort(bounds.begin(), bounds.end());
    ConvCall call(library, p, bounds);
    call.run(conv);
    return call;
  };
  if (kGpu) {
    auto p = problem(1, 32768, D);
    p.packed_sequences = 20;
    conv.warmup({&p, 1});
    auto near = problem(1, 32000, D);
    near.packed_sequences = 9;
    EXPECT_EQ(conv.plan_forward(near)->kernel().origin().substr(0, 7), "nearest");
  }
  for (int i = 0; i < 10; ++i) call_once();
  const auto before = library->counters();
  for (int i = 0; i < 289; ++i) call_once();
  auto last = call_once();
  EXPECT_EQ(library->counters().compiles, before.compiles);
  EXPECT_EQ(library->counters().loads, before.loads);
  EXPECT_EQ(library->counters().timings, before.timings);
  EXPECT_EQ(last.wrong(conv), "");
}

}  // namespace
}  // namespace strop
