// What a kernel does wrong is reported with the places where its threads wait, and the device goes on.

#include <gtest/gtest.h>

#include <ostream>

#include "src/device/host/grid.h"
#include "src/device/host/host_device.h"
#include "tests/host/fault_kernel.h"

namespace strop::host_test {
namespace {

using device::host::HostDevice;
using device::host::KernelFault;
using device::host::Order;

struct Fault {
  const char* function;
  std::vector<const char*> said;
};

void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.function; }

class HostFault : public testing::TestWithParam<Fault> {};

std::string report_of(HostDevice& device, const char* function) {
  try {
    run_fault(device, {.function = function});
  } catch (const KernelFault& fault) {
    return fault.what();
  }
  return "no fault";
}

TEST_P(HostFault, is_reported_in_every_order_and_the_device_goes_on) {
  HostDevice device;
  for (const Order order : {Order::forward, Order::reverse, Order::random}) {
    device.set_run_options({.order = order, .seed = 5, .livelock_seconds = 0.05});
    const std::string report = report_of(device, GetParam().function);
    for (const char* words : GetParam().said) EXPECT_NE(report.find(words), std::string::npos) << report;
    EXPECT_NO_THROW(run_fault(device, {.function = GetParam().function, .fixed = true}));
  }
}

INSTANTIATE_TEST_SUITE_P(
    all, HostFault,
    testing::Values(Fault{"divergent_barrier", {"divergent __syncthreads", "faults.cuh:", "threads at __syncthreads"}},
                    Fault{"returns_before_the_barrier", {"__syncthreads", "returned"}},
                    Fault{"deadlock", {"deadlock", "64 threads at a named barrier, faults/faults.cuh:"}},
                    Fault{"waits_for_ever", {"livelock", "a spin"}},
                    Fault{"one_arrival_too_many", {"more arrivals than its count"}},
                    Fault{"traps", {"count is odd", "block 1,0,0, thread 7,0,0"}},
                    Fault{"misaligned_load", {"misaligned"}}, Fault{"lane_outside_its_mask", {"not in its own mask"}},
                    Fault{"reads_a_lane_outside_the_mask", {"a lane outside its mask"}},
                    Fault{"different_collectives", {"lanes of a warp are in different collectives"}},
                    Fault{"too_much_static_shared", {"49156 bytes of static shared memory"}}),
    [](const auto& tested) { return tested.param.function; });

TEST(HostFaultOrder, a_missing_wait_reads_poison_unless_copies_are_eager) {
  HostDevice device;
  const FaultRun run{.function = "async_copy_without_wait"};
  EXPECT_EQ(run_fault(device, run)[0], 0xffffffffu);
  device.set_run_options({.eager_copies = true});
  EXPECT_EQ(run_fault(device, run)[0], 128u);
}

TEST(HostFaultOrder, a_missing_barrier_gives_poison_in_one_order_at_least) {
  HostDevice device;
  bool seen = false;
  for (const Order order : {Order::forward, Order::reverse, Order::random}) {
    device.set_run_options({.order = order});
    for (const std::uint32_t word : run_fault(device, {.function = "missing_barrier"})) seen |= word == 0xffffffffu;
  }
  EXPECT_TRUE(seen);
}

}  // namespace
}  // namespace strop::host_test
