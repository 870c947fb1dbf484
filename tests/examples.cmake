# The examples run as they are, small and on the host device.

function(strop_example_test name)
  if(TARGET example_${name})
    add_test(NAME example.${name} COMMAND example_${name} ${ARGN})
    set_tests_properties(example.${name} PROPERTIES LABELS examples TIMEOUT 300 ENVIRONMENT "STROP_DEVICE=host;STROP_CACHE=:memory:")
  endif()
endfunction()
strop_example_test(warmup 1 24 16)
strop_example_test(forward_backward)
strop_example_test(rms_norm 8 64)
