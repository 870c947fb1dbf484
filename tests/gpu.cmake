# What only a GPU can show; every case skips, and says so, where there is none.

strop_test(device_cuda_test gpu
  SOURCES
    gpu/device_cuda_cubin_test.cpp
    gpu/device_cuda_test.cpp
    gpu/device_cuda_timing_test.cpp
    gpu/device_cuda_capture_test.cpp
  LINKS strop::cuda_headers)

strop_test(tuning_gpu_test gpu
  SOURCES
    gpu/tuning_test.cpp
    support/planted_kernel.cpp
    support/test_folder.cpp
  LINKS strop::cuda_headers)

strop_test(causal_conv1d_gpu_test gpu TIMEOUT 600
  SOURCES
    gpu/causal_conv1d_test.cpp
    support/candidates.cpp
    support/conv_cases.cpp)

strop_test(conv_call_gpu_test gpu TIMEOUT 600
  SOURCES
    gpu/conv_call_cuda_test.cpp
    host/conv_call_test.cpp
    support/conv_call.cpp
    support/conv_cases.cpp
  LINKS strop::cuda_headers)
target_compile_definitions(conv_call_gpu_test PRIVATE STROP_TEST_DEVICE="cuda")
