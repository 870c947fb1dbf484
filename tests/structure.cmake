# Arrows, sizes and headers: what folders alone do not hold.

strop_test(structure_test structure SOURCES
  structure/structure_test.cpp structure/source_tree.cpp structure/texts_test.cpp)
target_compile_definitions(structure_test PRIVATE STROP_SOURCE_ROOT="${PROJECT_SOURCE_DIR}")

# Every header alone in a file of its own: one that leans on what others include before it does not compile.
file(GLOB_RECURSE _headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}
  ${PROJECT_SOURCE_DIR}/include/strop/*.h ${PROJECT_SOURCE_DIR}/src/*.h ${PROJECT_SOURCE_DIR}/jit/*.h ${PROJECT_SOURCE_DIR}/tuner/*.h
  ${PROJECT_SOURCE_DIR}/cache/*.h ${PROJECT_SOURCE_DIR}/tools/*.h)
set(_alone)
foreach(header IN LISTS _headers)
  string(MAKE_C_IDENTIFIER ${header} _name)
  string(REGEX REPLACE "^include/" "" _written ${header})
  set(_file ${CMAKE_CURRENT_BINARY_DIR}/headers/${_name}.cpp)
  file(CONFIGURE OUTPUT ${_file} CONTENT "#include \"@_written@\"\n" @ONLY)
  list(APPEND _alone ${_file})
endforeach()
add_library(strop_headers_alone OBJECT ${_alone})
target_compile_options(strop_headers_alone PRIVATE -O0 -g0)
target_link_libraries(strop_headers_alone PRIVATE strop_settings strop_warnings strop::fmt strop::spdlog strop::sqlite strop::sodium
  strop::boost_context strop::cuda_headers)
