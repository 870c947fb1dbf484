// Every wrapper's host twin gives the exact result, in every order of threads, copies and blocks.

#include <gtest/gtest.h>

#include <ostream>

#include "src/device/host/host_device.h"
#include "tests/gpu/wrapper_cases.h"
#include "tests/host/build.h"
#include "tests/host/wrapper_run.h"

namespace strop::conformance {

void PrintTo(const WrapperCase& c, std::ostream* out) { *out << c.name; }

namespace {

using device::host::HostDevice;
using device::host::Order;
using device::host::RunOptions;

class HostWrapper : public testing::TestWithParam<WrapperCase> {};

TEST_P(HostWrapper, gives_the_exact_result_in_every_order) {
  const WrapperCase& c = GetParam();
  const jit::Binary binary = host_test::build(wrapper_template(c), c.config);
  HostDevice device;
  EXPECT_EQ(difference(c, run_case(device, c, binary)), "") << "forward";
  device.set_run_options({.order = Order::reverse});
  EXPECT_EQ(difference(c, run_case(device, c, binary)), "") << "reverse";
  device.set_run_options({.eager_copies = true});
  EXPECT_EQ(difference(c, run_case(device, c, binary)), "") << "eager copies";
  for (unsigned seed = 1; seed <= 4; ++seed) {
    device.set_run_options({.order = Order::random, .seed = seed});
    EXPECT_EQ(difference(c, run_case(device, c, binary)), "") << "random order, seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(all, HostWrapper, testing::ValuesIn(wrapper_cases()),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace strop::conformance
