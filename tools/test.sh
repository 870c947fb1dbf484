#!/usr/bin/env bash
# Everything that has to pass: builds with warnings as errors and runs every test, then the unit and host tests again under
# AddressSanitizer + UBSan and the unit tests under ThreadSanitizer, then clang-tidy. Sets up what is missing first.
#
#   tools/test.sh            everything
#   tools/test.sh --quick    without sanitizers and clang-tidy
#
# All parts run even when one fails; the last line counts the tests of all of them. GPU tests skip, and say so, where there is no GPU.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

quick=no
for argument in "$@"; do
  case "$argument" in
    --quick) quick=yes ;;
    *) printf "test.sh: unknown argument '%s'; known: --quick\n" "$argument" >&2; exit 2 ;;
  esac
done

passed=0 failed=0 skipped=0 jobs=$(nproc)
heading() { printf '\n=== %s (%d s)\n' "$*" "$SECONDS"; }

# Adds one CTest run's counts, read from its JUnit report.
count() {
  local suite tests failures not_run
  suite=$(grep -o '<testsuite [^>]*' "$1" 2>/dev/null || true)
  tests=$(sed -n 's/.* tests="\([0-9]*\)".*/\1/p' <<<"${suite//$'\n'/ }")
  failures=$(sed -n 's/.* failures="\([0-9]*\)".*/\1/p' <<<"${suite//$'\n'/ }")
  not_run=$(sed -n 's/.* skipped="\([0-9]*\)".*/\1/p' <<<"${suite//$'\n'/ }")
  if [ -z "$tests" ]; then failed=$((failed + 1)); return; fi
  passed=$((passed + tests - failures - not_run)) failed=$((failed + failures)) skipped=$((skipped + not_run))
}

# Configures, builds and tests one preset; the arguments after it go to ctest.
run_preset() {
  local preset=$1 build=$2
  shift 2
  heading "$preset: build"
  if ! { cmake --preset "$preset" -DSTROP_BUILD_TESTS=ON && cmake --build --preset "$preset" --parallel "$jobs"; }; then
    printf 'test.sh: the %s build failed\n' "$preset"
    failed=$((failed + 1))
    return 1
  fi
  heading "$preset: test"
  local report=$PWD/$build/junit.xml
  rm -f "$report"
  ctest --preset "$preset" --parallel "$jobs" --output-junit "$report" "$@"
  count "$report"
}

tidy() {
  heading "clang-tidy"
  # The database has the generated sources and the tests too; only what is written here and shipped is judged.
  if run-clang-tidy -quiet -p build -j "$jobs" "^$PWD/(src|jit|tuner|cache|tools|examples)/" >build/clang-tidy.log 2>&1; then
    passed=$((passed + 1))
    printf 'clang-tidy: clean\n'
  else
    failed=$((failed + 1))
    grep -E '(warning|error): ' build/clang-tidy.log | sort -u
  fi
}

tools/setup.sh --tests || exit 1

if run_preset ci build && [ "$quick" = no ]; then
  tidy
  run_preset asan build-asan --label-regex '^(unit|host)$'
  run_preset tsan build-tsan --label-regex '^unit$'
fi

heading "done"
printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
