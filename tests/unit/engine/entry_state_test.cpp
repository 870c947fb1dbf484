#include "src/engine/entry_state.h"

#include <gtest/gtest.h>

#include "strop/device_facts.h"

namespace strop::engine {
namespace {

cache::Environment here() {
  cache::Environment environment;
  environment.device_class = "kind=cuda\narch=sm_90\n";
  environment.device_name = "NVIDIA H200";
  environment.driver = "580.159.03";
  environment.driver_user_mode = "580.159.03";
  environment.compiler = "nvrtc 13.0.88 (1a2b)";
  return environment;
}

cache::Winner winner() {
  cache::Winner stored;
  stored.environment = here();
  stored.id.device_class = here().device_class;
  stored.id.template_digest = "abc";
  return stored;
}

TEST(EntryState, IsCurrentWhereItWasTimed) { EXPECT_EQ(state_of(winner(), here(), "abc").state, State::current); }

TEST(EntryState, IsSuspectAfterADriverOrCompilerChangeAndSaysWhich) {
  auto now = here();
  now.driver = "590.44.01";
  const auto state = state_of(winner(), now);
  EXPECT_EQ(state.state, State::suspect);
  EXPECT_EQ(state.reason, "driver 580.159.03 -> 590.44.01");
  now = here();
  now.compiler = "nvrtc 13.1.1 (9f)";
  EXPECT_EQ(state_of(winner(), now).state, State::suspect);
}

TEST(EntryState, IsForeignOnAnotherKindOfDeviceOrForAnotherTemplate) {
  auto now = here();
  now.device_class = "kind=cuda\narch=sm_80\n";
  EXPECT_EQ(state_of(winner(), now).state, State::foreign);
  EXPECT_EQ(state_of(winner(), here(), "other").state, State::foreign);
}

TEST(EntryState, AnEqualChipUnderAnotherNameIsServedAndSuspect) {
  DeviceFacts facts;
  facts.kind = DeviceKind::cuda;
  facts.arch = "sm_90";
  facts.name = "NVIDIA H200";
  auto other = facts;
  other.name = "NVIDIA H200 NVL";
  EXPECT_EQ(facts.device_class(), other.device_class());
  auto now = here();
  now.device_name = other.name;
  const auto state = state_of(winner(), now);
  EXPECT_EQ(state.state, State::suspect);
  EXPECT_EQ(state.reason, "name NVIDIA H200 -> NVIDIA H200 NVL");
  facts.kind = other.kind = DeviceKind::host;
  EXPECT_NE(facts.device_class(), other.device_class());
}

TEST(EntryState, UnknownIsNoEvidenceOfChangeAndAUuidIsProvenance) {
  auto now = here();
  now.driver = "unknown";
  now.compiler = "unknown";
  now.device_uuid = "GPU-other";
  EXPECT_EQ(state_of(winner(), now).state, State::current);
}

}  // namespace
}  // namespace strop::engine
