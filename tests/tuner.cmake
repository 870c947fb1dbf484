# Checking, measuring and searching: pure functions and made-up noise, no device and no clock.
strop_test(tuner_test unit SOURCES
  unit/tuner/check_test.cpp
  unit/tuner/final_test.cpp
  unit/tuner/input_test.cpp
  unit/tuner/made_up_judge.cpp
  unit/tuner/measure_test.cpp
  unit/tuner/search_failures_test.cpp
  unit/tuner/search_test.cpp
  unit/tuner/simulation_test.cpp)
