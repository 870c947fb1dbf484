#!/usr/bin/env bash
# What has to pass: sets up what is missing, builds with warnings as errors, and runs every test; kernels under AddressSanitizer,
# UBSan and ThreadSanitizer are among them, in processes of their own.
#
#   tools/test.sh            that
#   tools/test.sh --full     then the library itself: unit and host tests under AddressSanitizer + UBSan, unit tests under
#                            ThreadSanitizer, and clang-tidy (another half hour on two cores)
#
# All parts run even when one fails; at the end stand the counts of all parts together and CTest's own summary of each. GPU tests skip,
# and say so, where there is no GPU.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

full=no
for argument in "$@"; do
  case "$argument" in
    --full) full=yes ;;
    *) printf "test.sh: unknown argument '%s'; known: --full\n" "$argument" >&2; exit 2 ;;
  esac
done

passed=0 failed=0 skipped=0 jobs=$(nproc) launcher=() summaries=()
# A compiler cache, where there is one, serves every checkout alike.
if command -v ccache >/dev/null 2>&1; then
  launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
fi
heading() { printf '\n=== %s (%d s)\n' "$*" "$SECONDS"; }

# Adds one CTest run's counts, read from the head of its JUnit report: attributes of <testsuite>, one a line.
count() {
  local report=$1 tests
  attribute() { sed -n "/<testcase/q; s/^[[:space:]]*$1=\"\([0-9]*\)\".*/\1/p" "$report"; }
  tests=$([ -e "$report" ] && attribute tests)
  if [ -z "$tests" ]; then  # it did not get so far as to write one
    failed=$((failed + 1))
    return
  fi
  failed=$((failed + $(attribute failures)))
  skipped=$((skipped + $(attribute skipped) + $(attribute disabled)))
  passed=$((passed + tests - $(attribute failures) - $(attribute skipped) - $(attribute disabled)))
}

# Configures, builds and tests one preset; the arguments after it go to ctest.
run_preset() {
  local preset=$1 build=$2
  shift 2
  heading "$preset: build"
  if ! { cmake --preset "$preset" -DSTROP_BUILD_TESTS=ON "${launcher[@]}" && cmake --build --preset "$preset" --parallel "$jobs"; }; then
    printf 'test.sh: the %s build failed\n' "$preset"
    failed=$((failed + 1))
    return 1
  fi
  heading "$preset: test"
  local report=$PWD/$build/junit.xml
  rm -f "$report"
  ctest --preset "$preset" --parallel "$jobs" --output-junit "$report" "$@" | tee "$build/ctest.log"
  count "$report"
  summaries+=("$(grep -E '% tests passed' "$build/ctest.log" || echo "$preset: CTest gave no summary")")
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

# A part that would begin too late to end within CI's limit is left out, and counted as skipped.
in_time() {
  if [ "$SECONDS" -lt $((${TEST_MINUTES:-60} * 60)) ]; then return 0; fi
  heading "$1: left out, begun too late (TEST_MINUTES=${TEST_MINUTES:-60})"
  skipped=$((skipped + 1))
  return 1
}

if run_preset ci build && [ "$full" = yes ]; then
  if in_time asan; then run_preset asan build-asan --label-regex '^(unit|host)$'; fi
  if in_time clang-tidy; then tidy; fi
  if in_time tsan; then run_preset tsan build-tsan --label-regex '^unit$'; fi
fi

heading "done"
printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
[ "${#summaries[@]}" -eq 0 ] || printf '%s\n' "${summaries[@]}"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
