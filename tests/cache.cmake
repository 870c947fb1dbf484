# The store against real files, damaged ones, and other processes.
strop_test(cache_test unit SOURCES
  support/test_folder.cpp
  unit/cache/child.cpp
  unit/cache/damage_test.cpp
  unit/cache/filter_test.cpp
  unit/cache/paths_test.cpp
  unit/cache/place_test.cpp
  unit/cache/processes_test.cpp
  unit/cache/read_only_test.cpp
  unit/cache/held_test.cpp
  unit/cache/overlay_test.cpp
  unit/cache/repair_test.cpp
  unit/cache/samples.cpp
  unit/cache/schema_test.cpp
  unit/cache/store_test.cpp
  LINKS strop::sqlite)
target_compile_definitions(cache_test PRIVATE STROP_GOLDEN_ROOT="${PROJECT_SOURCE_DIR}/tests/golden")
