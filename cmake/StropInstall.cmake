# The install tree: headers, libstrop.a, the command, and the package that find_package(strop) finds. The package names no path of
# this build; it looks for the static archives that libstrop.a needs again on the machine where it is used.
include(CMakePackageConfigHelpers)

set(_strop_package ${CMAKE_INSTALL_LIBDIR}/cmake/strop)
install(TARGETS strop EXPORT strop_targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/strop DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
if(TARGET strop_command)
  install(TARGETS strop_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(EXPORT strop_targets NAMESPACE strop:: DESTINATION ${_strop_package})

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/strop-config.cmake.in ${PROJECT_BINARY_DIR}/strop-config.cmake
  INSTALL_DESTINATION ${_strop_package} NO_SET_AND_CHECK_MACRO)
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/strop-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/strop-config.cmake ${PROJECT_BINARY_DIR}/strop-config-version.cmake
              ${PROJECT_SOURCE_DIR}/cmake/StropStaticLibrary.cmake
        DESTINATION ${_strop_package})
