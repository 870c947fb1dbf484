# Policy on two interface targets, so that no directory sets flags of its own.

add_library(strop_settings INTERFACE)
target_compile_features(strop_settings INTERFACE cxx_std_20)
target_include_directories(strop_settings INTERFACE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
target_compile_options(strop_settings INTERFACE -fvisibility=hidden -fno-math-errno)
if(STROP_SANITIZE)
  string(REPLACE ";" "," _strop_sanitizers "${STROP_SANITIZE}")
  target_compile_options(strop_settings INTERFACE -fsanitize=${_strop_sanitizers} -fno-omit-frame-pointer -g -fno-sanitize-recover=all)
  target_link_options(strop_settings INTERFACE -fsanitize=${_strop_sanitizers})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # GCC's manual at -fsanitize: sanitizers raise the rate of false positives of this one warning most (GCC 12: inside std::regex).
    # Builds without sanitizers keep it, over the same code.
    target_compile_options(strop_settings INTERFACE -Wno-maybe-uninitialized)
  endif()
endif()

add_library(strop_warnings INTERFACE)
target_compile_options(strop_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wold-style-cast -Wcast-align
  -Woverloaded-virtual -Wconversion -Wno-sign-conversion -Wno-missing-field-initializers)
if(STROP_DEVELOPER)
  target_compile_options(strop_warnings INTERFACE -Werror)
endif()

# A room: an object library whose links are private. `strop_room(NAME SOURCES ... LINKS ...)`
function(strop_room name)
  cmake_parse_arguments(ROOM "" "" "SOURCES;LINKS" ${ARGN})
  if(NOT ROOM_SOURCES)
    set(ROOM_SOURCES ${PROJECT_SOURCE_DIR}/cmake/empty_room.cpp)
  endif()
  add_library(strop_${name} OBJECT ${ROOM_SOURCES})
  set_target_properties(strop_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_link_libraries(strop_${name} PRIVATE strop_settings strop_warnings ${ROOM_LINKS})
endfunction()
