# The command as its users drive it.

if(TARGET strop_command)
  strop_test(cli_test cli TIMEOUT 300
    SOURCES cli/bench_calls_test.cpp cli/bench_test.cpp cli/cache_test.cpp cli/command_fixture.cpp cli/contract_test.cpp cli/doctor_test.cpp cli/driver_change_test.cpp cli/refusal_test.cpp cli/run_command.cpp cli/terminal_test.cpp cli/usage_test.cpp cli/warmup_test.cpp
    ${PROJECT_SOURCE_DIR}/tools/strop/bench_calls.cpp
    LINKS nlohmann_json::nlohmann_json strop::sqlite util)
  add_dependencies(cli_test strop_command)
  target_compile_definitions(cli_test PRIVATE STROP_COMMAND="$<TARGET_FILE:strop_command>" STROP_SOURCE_ROOT="${PROJECT_SOURCE_DIR}"
    STROP_VERSION="${PROJECT_VERSION}")
endif()
