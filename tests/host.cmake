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

# Kernels under sanitizers run in child processes. Only the kernels are instrumented, by the flags that the runner compiles them with;
# the runner is linked with the sanitizer's runtime. A build that is under one sanitizer itself can't have the other.
function(strop_sanitized_runner name sanitizer other)
  string(TOUPPER ${name} _name)
  if("${other}" IN_LIST STROP_SANITIZE)
    target_compile_definitions(host_sanitizer_test PRIVATE STROP_RUNNER_${_name}="")
    return()
  endif()
  add_executable(sanitized_runner_${name}
    host/conv_problems.cpp
    host/problem_cases.cpp
    host/problem_run.cpp
    host/sanitized_runner.cpp
    host/space_run.cpp
    support/conv_cases.cpp
    support/planted_kernel.cpp)
  target_link_libraries(sanitized_runner_${name} PRIVATE strop_test_kernels strop strop_settings strop_warnings strop::fmt)
  target_compile_definitions(sanitized_runner_${name} PRIVATE STROP_RUNNER_SANITIZER="${sanitizer}")
  target_link_options(sanitized_runner_${name} PRIVATE -fsanitize=${sanitizer})
  set_target_properties(sanitized_runner_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  target_compile_definitions(host_sanitizer_test PRIVATE STROP_RUNNER_${_name}="$<TARGET_FILE:sanitized_runner_${name}>")
  add_dependencies(host_sanitizer_test sanitized_runner_${name})
endfunction()
strop_test(host_sanitizer_test host TIMEOUT 600 SOURCES
  host/candidates_sanitizer_test.cpp
  host/child.cpp
  host/sanitizer_test.cpp LINKS strop_test_kernels)
strop_sanitized_runner(address address,undefined thread)
strop_sanitized_runner(thread thread address)
