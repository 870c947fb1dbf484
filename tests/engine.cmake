strop_test(engine_test host SOURCES
  support/planted_kernel.cpp
  support/test_folder.cpp
  unit/engine/engine_test.cpp
  unit/engine/entry_state_test.cpp
  unit/engine/faults_test.cpp)
