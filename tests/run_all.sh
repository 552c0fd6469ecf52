#!/bin/sh
# Runs every test of a build folder through ctest; its last line is `N passed, N failed, N skipped`, and its exit code 1
# if anything failed. A GoogleTest program counts by its cases, any other test as one. A program that crashed, or was
# stopped for its time, leaves no list of cases: it counts as one failure.
set -eu

build=${1:?usage: run_all.sh BUILD_FOLDER [CTEST_ARGS...]}
shift
results=$(cd "$build" && pwd)/test-results
rm -rf "$results"
mkdir -p "$results/cases"

# A relative path or none would put the lists into the tests' own folders.
status=0
GTEST_OUTPUT="xml:$results/cases/" ctest --test-dir "$build" --output-on-failure --no-tests=error --timeout 300 -j2 \
  --output-junit "$results/programs.xml" "$@" </dev/null || status=$?

set -- "$results"/cases/*.xml
[ -e "$1" ] || set --
awk -f "$(dirname "$0")/sum_results.awk" "$@" "$results/programs.xml" || status=1
[ "$status" = 0 ] || exit 1
