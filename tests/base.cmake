strop_test(base_test unit SOURCES
  unit/base/config_test.cpp
  unit/base/digest_test.cpp
  unit/base/error_test.cpp
  unit/base/format_test.cpp
  unit/base/key_test.cpp
  unit/base/settings_test.cpp
  unit/base/space_test.cpp)
