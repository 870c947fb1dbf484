# strop_embed(OUTPUT file.cpp FUNCTION name ROOT dir FILES a b ...): a source file that defines
# `const std::map<std::string, std::string>& name()` with the texts by their path below ROOT. Made at build time, again whenever a
# text changes.
function(strop_embed)
  cmake_parse_arguments(EMBED "" "OUTPUT;FUNCTION;ROOT" "FILES" ${ARGN})
  set(_inputs)
  foreach(file IN LISTS EMBED_FILES)
    list(APPEND _inputs ${EMBED_ROOT}/${file})
  endforeach()
  add_custom_command(OUTPUT ${EMBED_OUTPUT}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${EMBED_OUTPUT} -DFUNCTION=${EMBED_FUNCTION} -DROOT=${EMBED_ROOT} "-DFILES=${EMBED_FILES}"
            -P ${PROJECT_SOURCE_DIR}/cmake/EmbedTexts.cmake
    DEPENDS ${_inputs} ${PROJECT_SOURCE_DIR}/cmake/EmbedTexts.cmake
    COMMENT "Embedding device templates" VERBATIM)
endfunction()
