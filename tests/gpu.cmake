# What only a GPU can show; every case skips, and says so, where there is none.

strop_test(device_cuda_test gpu
  SOURCES
    gpu/device_cuda_cubin_test.cpp
    gpu/device_cuda_test.cpp
    gpu/device_cuda_timing_test.cpp
    gpu/device_cuda_capture_test.cpp
  LINKS strop::cuda_headers)
