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
# What NVRTC made of the templates; skips, and says so, where there is no disassembler.
find_program(STROP_NVDISASM nvdisasm
  HINTS ENV CUDA_PATH ENV CUDA_HOME /usr/local/cuda PATH_SUFFIXES bin
  PATHS ${PROJECT_SOURCE_DIR}/.deps/nvdisasm/nvidia/cu13/bin)
strop_test(machine_code_test unit TIMEOUT 300 SOURCES unit/ops/machine_code_test.cpp support/test_folder.cpp)
target_compile_definitions(machine_code_test PRIVATE STROP_NVDISASM="$<IF:$<BOOL:${STROP_NVDISASM}>,${STROP_NVDISASM},>")
