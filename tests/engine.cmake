strop_test(engine_test host SOURCES
  support/planted_kernel.cpp
  support/test_folder.cpp
  unit/engine/engine_test.cpp
  unit/engine/entry_state_test.cpp
  unit/engine/faults_test.cpp)

strop_test(leases_test unit TIMEOUT 300 SOURCES
  support/planted_kernel.cpp
  support/test_folder.cpp
  unit/cache/child.cpp
  unit/engine/leases_test.cpp)
