# The host device: conformance of the dialect's host twins, sanitizers, faults.

add_library(strop_wrapper_cases STATIC
  gpu/wrapper_cases.cpp
  gpu/wrapper_cases_copy.cpp
  gpu/wrapper_cases_matrix.cpp
  gpu/wrapper_cases_number.cpp
  gpu/wrapper_cases_sync.cpp
  host/build.cpp
  host/wrapper_run.cpp)
target_link_libraries(strop_wrapper_cases PRIVATE strop strop_settings strop_warnings strop::fmt)
target_compile_definitions(strop_wrapper_cases PRIVATE STROP_TEST_SOURCES="${CMAKE_CURRENT_SOURCE_DIR}")

strop_test(host_wrapper_test host SOURCES host/wrapper_test.cpp LINKS strop_wrapper_cases)
