# Source and identities; the two toolchains, each with the real compiler.
strop_test(jit_source_test unit SOURCES
  support/scale_kernel.cpp
  unit/jit/embed_test.cpp
  unit/jit/identity_test.cpp
  unit/jit/includes_test.cpp
  unit/jit/reachable_test.cpp
  unit/jit/source_test.cpp)
target_compile_definitions(jit_source_test PRIVATE STROP_TEMPLATE_ROOT="${PROJECT_SOURCE_DIR}/templates")
strop_test(jit_host_test unit SOURCES support/scale_kernel.cpp support/test_folder.cpp unit/jit/host_toolchain_test.cpp
  unit/jit/process_test.cpp)
strop_test(jit_nvrtc_test unit SOURCES support/scale_kernel.cpp support/test_folder.cpp unit/jit/nvrtc_place_test.cpp
  unit/jit/nvrtc_resources_test.cpp unit/jit/nvrtc_toolchain_test.cpp LINKS strop::cuda_headers)
