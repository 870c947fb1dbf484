strop_test(causal_conv1d_host_test host TIMEOUT 600 SOURCES
  host/causal_conv1d_test.cpp
  support/candidates.cpp
  support/conv_cases.cpp)
strop_test(ops_test unit SOURCES
  unit/ops/divisor_test.cpp
  unit/ops/from_key_test.cpp)
# A whole call a case, tables warm and cold.
strop_test(conv_call_host_test host TIMEOUT 300 SOURCES
  host/conv_call_test.cpp
  support/conv_call.cpp
  support/conv_cases.cpp)
target_compile_definitions(conv_call_host_test PRIVATE STROP_TEST_DEVICE="host")
