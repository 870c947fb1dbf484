# The library from outside: installed and found by a package, or as a subdirectory of another project.

set(_prefix ${PROJECT_BINARY_DIR}/package/prefix)
add_test(NAME package.installs COMMAND ${CMAKE_COMMAND} --install ${PROJECT_BINARY_DIR} --prefix ${_prefix})
set_tests_properties(package.installs PROPERTIES LABELS package FIXTURES_SETUP package_tree TIMEOUT 60)

function(strop_package_test name)
  cmake_parse_arguments(PACKAGE "" "TIMEOUT" "OPTIONS;REQUIRES" ${ARGN})
  set(_build ${PROJECT_BINARY_DIR}/package/${name})
  set(_options ${PACKAGE_OPTIONS})
  if(CMAKE_CXX_COMPILER_LAUNCHER)
    list(APPEND _options -DCMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER})
  endif()
  add_test(NAME package.${name} COMMAND ${CMAKE_CTEST_COMMAND}
    --build-and-test ${PROJECT_SOURCE_DIR}/tests/package/consumer ${_build} --build-generator ${CMAKE_GENERATOR}
    --build-options -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER} ${_options} --test-command ${_build}/consumer)
  set_tests_properties(package.${name} PROPERTIES LABELS package TIMEOUT ${PACKAGE_TIMEOUT}
    FIXTURES_REQUIRED "${PACKAGE_REQUIRES}" FIXTURES_SETUP package_${name})
endfunction()
strop_package_test(a_consumer_finds_links_and_runs TIMEOUT 120 REQUIRES package_tree
  OPTIONS -DCMAKE_PREFIX_PATH=${_prefix} -DCMAKE_BUILD_TYPE=Release)
# Unoptimised: the library is compiled a second time for it.
strop_package_test(a_consumer_adds_the_subdirectory_and_runs TIMEOUT 900
  OPTIONS -DSTROP_SOURCE=${PROJECT_SOURCE_DIR} -DCMAKE_BUILD_TYPE=None -DCMAKE_CXX_FLAGS=-O0)
set_tests_properties(package.a_consumer_adds_the_subdirectory_and_runs PROPERTIES PROCESSORS 2)

find_program(STROP_READELF NAMES ${CMAKE_READELF} readelf REQUIRED)
mark_as_advanced(STROP_READELF)
function(strop_not_linked_test name program requires)
  add_test(NAME package.${name} COMMAND ${CMAKE_COMMAND} -DPROGRAM=${program} -DREADELF=${STROP_READELF}
    -P ${PROJECT_SOURCE_DIR}/tests/package/check_not_linked.cmake)
  set_tests_properties(package.${name} PROPERTIES LABELS package FIXTURES_REQUIRED "${requires}")
endfunction()
strop_not_linked_test(a_consumer_links_no_cuda ${PROJECT_BINARY_DIR}/package/a_consumer_finds_links_and_runs/consumer
  package_a_consumer_finds_links_and_runs)
if(TARGET strop_command)
  strop_not_linked_test(the_command_links_no_cuda $<TARGET_FILE:strop_command> "")
  strop_not_linked_test(the_installed_command_links_no_cuda ${_prefix}/${CMAKE_INSTALL_BINDIR}/strop package_tree)
endif()
