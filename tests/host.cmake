# The host device: conformance of the dialect's host twins, faults in kernels, and kernels under sanitizers.

# Builds and runs test kernels; the conformance cases are shared with the GPU tests.
add_library(strop_test_kernels STATIC
  gpu/wrapper_cases.cpp
  gpu/wrapper_cases_copy.cpp
  gpu/wrapper_cases_matrix.cpp
  gpu/wrapper_cases_number.cpp
  gpu/wrapper_cases_sync.cpp
  host/build.cpp
  host/fault_kernel.cpp
  host/wrapper_run.cpp)
target_link_libraries(strop_test_kernels PRIVATE strop strop_settings strop_warnings strop::fmt)
target_compile_definitions(strop_test_kernels PRIVATE STROP_TEST_SOURCES="${CMAKE_CURRENT_SOURCE_DIR}")

strop_test(host_wrapper_test host SOURCES host/wrapper_test.cpp LINKS strop_test_kernels)
strop_test(host_fault_test host SOURCES host/fault_test.cpp LINKS strop_test_kernels)
strop_test(host_device_test host SOURCES unit/device/host_device_test.cpp LINKS strop_test_kernels)
