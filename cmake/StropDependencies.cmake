# Third-party libraries under one name each. fmt and spdlog are used header-only: Debian ships them shared only, and a static
# libstrop must not ask its users for the same versions at run time. Neither appears in a public header.

find_package(Threads REQUIRED)

find_package(fmt REQUIRED)
add_library(strop_fmt INTERFACE)
target_link_libraries(strop_fmt INTERFACE fmt::fmt-header-only)
add_library(strop::fmt ALIAS strop_fmt)

find_package(spdlog REQUIRED)
add_library(strop_spdlog INTERFACE)
get_target_property(_spdlog_includes spdlog::spdlog_header_only INTERFACE_INCLUDE_DIRECTORIES)
target_include_directories(strop_spdlog SYSTEM INTERFACE ${_spdlog_includes})
target_compile_definitions(strop_spdlog INTERFACE SPDLOG_FMT_EXTERNAL)
target_link_libraries(strop_spdlog INTERFACE fmt::fmt-header-only Threads::Threads)
add_library(strop::spdlog ALIAS strop_spdlog)

include(StropStaticLibrary)
strop_static_library(sqlite sqlite3.h sqlite3)
strop_static_library(sodium sodium.h sodium)
strop_static_library(boost_context boost/context/fiber.hpp boost_context)

if(STROP_BUILD_TOOLS)
  find_package(nlohmann_json REQUIRED)
  find_package(CLI11 REQUIRED)
endif()

# cuda.h, cudaTypedefs.h and nvrtc.h only: nothing of CUDA is ever linked. The toolkit, else NVIDIA's Python wheels
# (tools/setup.sh installs them into .deps/cuda).
file(GLOB _strop_wheel_includes ${PROJECT_SOURCE_DIR}/.deps/cuda/nvidia/*/include)
find_path(STROP_CUDA_INCLUDE cudaTypedefs.h
  HINTS ENV CUDA_PATH ENV CUDA_HOME /usr/local/cuda PATH_SUFFIXES include
  PATHS ${_strop_wheel_includes} REQUIRED)
find_path(STROP_NVRTC_INCLUDE nvrtc.h
  HINTS ENV CUDA_PATH ENV CUDA_HOME /usr/local/cuda PATH_SUFFIXES include
  PATHS ${_strop_wheel_includes} REQUIRED)
add_library(strop_cuda_headers INTERFACE)
file(GLOB STROP_NVRTC_FALLBACK ${PROJECT_SOURCE_DIR}/.deps/cuda/nvidia/cu13/lib)  # empty where there is a toolkit
target_include_directories(strop_cuda_headers SYSTEM INTERFACE ${STROP_CUDA_INCLUDE} ${STROP_NVRTC_INCLUDE})
add_library(strop::cuda_headers ALIAS strop_cuda_headers)
