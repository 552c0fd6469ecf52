#!/bin/sh
# Runs every test of a build folder through ctest; its last line is `N passed, N failed, N skipped`, and its exit code
# is 1 if anything failed. Each case of a GoogleTest program counts as a test. A program that crashed or timed out
# leaves no list of cases and counts as one failure.
set -eu

build=${1:?usage: run_all.sh BUILD_FOLDER [CTEST_ARGS...]}
shift
results=$(cd "$build" && pwd)/test-results
rm -rf "$results"
mkdir -p "$results/cases"

# Three at a time also on two cores, since tests of tools spend much of their time waiting. The time limit is for hangs:
# the slowest program takes a minute alone, but others may use the machine.
# The path must be absolute, or the lists would land in the tests' folders.
status=0
GTEST_OUTPUT="xml:$results/cases/" ctest --test-dir "$build" --output-on-failure --no-tests=error --timeout 1200 -j3 \
  --output-junit "$results/programs.xml" "$@" </dev/null || status=$?

set -- "$results"/cases/*.xml
[ -e "$1" ] || set --
awk -f "$(dirname "$0")/sum_results.awk" "$@" "$results/programs.xml" || status=1
[ "$status" = 0 ] || exit 1
