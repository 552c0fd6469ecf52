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

# One `<testsuite ...>` line a suite in each list of cases; one `<testcase ...>` line a program in ctest's.
cat > "$results/sum.awk" <<'AWK'
function attribute(name) {
  if (!match($0, " " name "=\"[^\"]*\"")) return ""
  return substr($0, RSTART + length(name) + 3, RLENGTH - length(name) - 4)
}
function program_of(file) {
  sub(/.*\//, "", file)
  sub(/(_[0-9]+)?\.xml$/, "", file)
  return file
}
function finish(program, outcome) {
  if (outcome == "run") { if (!(program in listed)) passed++ }
  else if (outcome == "skip") { if (!(program in listed)) skipped++ }
  else if (!case_failures[program]) { failed++; broken = broken " " program }
}
FILENAME ~ /\/cases\// && /^  <testsuite name=/ {
  program = program_of(FILENAME)
  listed[program] = 1
  failures = attribute("failures") + attribute("errors")
  skips = attribute("skipped") + attribute("disabled")
  failed += failures; skipped += skips; passed += attribute("tests") - failures - skips
  case_failures[program] += failures
}
FILENAME ~ /programs\.xml$/ && /^\t<testcase name=/ { program = attribute("name"); outcome = attribute("status") }
# "notrun" is a skip only if the test said so itself; a program that is not there is a failure.
FILENAME ~ /programs\.xml$/ && /^\t\t<skipped message="SKIP_/ { outcome = "skip" }
FILENAME ~ /programs\.xml$/ && /^\t<\/testcase>/ { finish(program, outcome == "disabled" ? "skip" : outcome) }
END {
  if (broken != "") print "failed without a list of failed cases:" broken
  printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
  exit failed > 0
}
AWK
set -- "$results"/cases/*.xml
[ -e "$1" ] || set --
awk -f "$results/sum.awk" "$@" "$results/programs.xml" || status=1
[ "$status" = 0 ] || exit 1
