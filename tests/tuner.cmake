strop_test(tuner_test unit SOURCES
  unit/tuner/check_test.cpp
  unit/tuner/measure_test.cpp
  unit/tuner/search_test.cpp
  unit/tuner/storage_test.cpp)
