# strop_static_library(NAME HEADER ARCHIVE): the imported target strop::NAME. The static archive where there is one: a binary made
# here must run where these libraries are not installed. Used by the build and by the installed package alike.
function(strop_static_library name header archive)
  find_path(STROP_${name}_INCLUDE ${header})
  find_library(STROP_${name}_LIBRARY NAMES lib${archive}.a ${archive})
  mark_as_advanced(STROP_${name}_INCLUDE STROP_${name}_LIBRARY)
  if(NOT STROP_${name}_INCLUDE OR NOT STROP_${name}_LIBRARY)
    message(FATAL_ERROR "strop needs lib${archive} with its header ${header}; tools/setup.sh installs it on Debian")
  endif()
  add_library(strop::${name} INTERFACE IMPORTED GLOBAL)
  target_include_directories(strop::${name} SYSTEM INTERFACE ${STROP_${name}_INCLUDE})
  target_link_libraries(strop::${name} INTERFACE ${STROP_${name}_LIBRARY})
endfunction()
