# The device room without a GPU: finding the driver (against libraries that each lack one thing), and pure functions.

function(strop_fake_libcuda name)
  add_library(fake_libcuda_${name} SHARED unit/device/fake_libcuda.cpp)
  target_link_libraries(fake_libcuda_${name} PRIVATE strop_settings strop_warnings)
  target_compile_definitions(fake_libcuda_${name} PRIVATE ${ARGN})
  string(TOUPPER FAKE_${name} _definition)
  target_compile_definitions(cuda_probe_test PRIVATE ${_definition}="$<TARGET_FILE:fake_libcuda_${name}>")
  add_dependencies(cuda_probe_test fake_libcuda_${name})
endfunction()

strop_test(cuda_probe_test unit SOURCES unit/device/cuda_probe_test.cpp)
strop_fake_libcuda(ok)
strop_fake_libcuda(old FAKE_VERSION=11040)
strop_fake_libcuda(insufficient FAKE_LACKS="cuLaunchKernelEx" FAKE_LACKS_HOW=2)
strop_fake_libcuda(not_found FAKE_LACKS="cuLaunchKernelEx")
strop_fake_libcuda(no_func_load FAKE_LACKS="cuFuncLoad")
strop_fake_libcuda(no_device FAKE_INIT=100)
strop_fake_libcuda(zero FAKE_DEVICES=0)
strop_fake_libcuda(mismatch FAKE_INIT=803)
strop_fake_libcuda(hangs FAKE_HANGS)

strop_test(cuda_hold_test unit SOURCES unit/device/cuda_hold_test.cpp)
strop_test(cuda_lost_test unit SOURCES unit/device/cuda_lost_test.cpp LINKS strop::cuda_headers)
target_compile_definitions(cuda_lost_test PRIVATE FAKE_HANGS="$<TARGET_FILE:fake_libcuda_hangs>")
add_dependencies(cuda_lost_test fake_libcuda_hangs)
strop_test(cuda_pointers_test unit SOURCES unit/device/cuda_pointers_test.cpp LINKS strop::cuda_headers)
strop_test(cuda_identity_test unit SOURCES unit/device/cuda_identity_test.cpp)
strop_test(cuda_image_test unit SOURCES unit/device/cuda_image_test.cpp)

# The whole library is in this program: what it needs at load time is what any user's program needs.
add_test(NAME cuda_probe_test.links_no_cuda COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:cuda_probe_test> -DREADELF=${CMAKE_READELF}
  -P ${CMAKE_CURRENT_SOURCE_DIR}/package/check_not_linked.cmake)
set_tests_properties(cuda_probe_test.links_no_cuda PROPERTIES LABELS unit)

strop_test(open_device_test unit SOURCES unit/device/open_test.cpp)
target_compile_definitions(open_device_test PRIVATE FAKE_OK="$<TARGET_FILE:fake_libcuda_ok>" FAKE_OLD="$<TARGET_FILE:fake_libcuda_old>")
add_dependencies(open_device_test fake_libcuda_ok fake_libcuda_old)
