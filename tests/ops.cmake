strop_test(causal_conv1d_host_test host TIMEOUT 600 SOURCES
  host/causal_conv1d_test.cpp
  support/candidates.cpp
  support/conv_cases.cpp)
strop_test(ops_test unit SOURCES unit/ops/divisor_test.cpp)
